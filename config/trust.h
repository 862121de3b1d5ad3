// Who may write a file decides whether it is believed.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "acl/result.h"
#include "config/file.h"

namespace stile::config {

enum class FileKind : std::uint8_t { regular, directory };

struct TrustedFile {
  OpenFile file;       // opened for reading; what was checked is what will be read
  struct stat status;  // of that descriptor
};

// Opens a file and refuses it if anyone but root and the owner of the config could have written
// it, or could put another one in its place: every directory on the way is looked at, those that
// hold a symbolic link included. Without an `owner` the file's own is taken, for the config itself.
//
// A directory that others can write is accepted only if it is sticky (/tmp, /nix/store) or on a
// read-only mount (a Kubernetes volume is mode 0777), and then only for entries that belong to root
// or the owner: nobody else can rename or replace those.
[[nodiscard]] Result<TrustedFile> open_trusted(const std::string& path, std::optional<uid_t> owner,
                                               FileKind kind = FileKind::regular);

}  // namespace stile::config
