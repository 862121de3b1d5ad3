// Trusts a file depending on who may write it.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stile::config {

enum class FileKind : std::uint8_t { regular, directory };

struct TrustedFile {
  UniqueFd file;       // opened for reading: the checked file is the one that is read
  struct stat status;  // of that descriptor
};

// Opens a file. Refuses it if anyone but root and the owner of the config could have written or
// replaced it: every directory of the path is checked, including those that hold a symbolic link.
// Without an `owner` the owner of the file is used, for the config itself.
//
// A directory that others can write is accepted only if it is sticky (/tmp, /nix/store) or on a
// read-only mount (a Kubernetes volume is mode 0777), and then only for entries that belong to root
// or the owner: other users cannot rename or replace those.
[[nodiscard]] Result<TrustedFile> open_trusted(const std::string& path, std::optional<uid_t> owner,
                                               FileKind kind = FileKind::regular);

}  // namespace stile::config
