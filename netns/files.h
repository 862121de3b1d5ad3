// files: small files of our own, written as a whole or not at all.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acl/result.h"
#include "proxy/base/unique_fd.h"

namespace stile::netns {

// "what: the last error of the operating system, in words".
[[nodiscard]] Error system_error(const std::string& what);
[[nodiscard]] Error system_error(const std::string& what, int code);

// A Result that holds a text: written out, since a string alone would also make an Error.
[[nodiscard]] inline Result<std::string> text_result(std::string text) {
  return Result<std::string>{boost::system::in_place_value, std::move(text)};
}

// Makes a directory, or takes the one that is there if it belongs to root and nobody else can write
// it. What a less privileged process could have planted is never followed.
[[nodiscard]] Result<UniqueFd> open_directory(const std::string& path, mode_t mode,
                                              gid_t group = 0);

// Writes beside the place and renames, so that a reader sees the old file or the new one, and a
// symbolic link at that place is replaced, not followed.
[[nodiscard]] Result<void> write_file(int directory, const std::string& name, std::string_view text,
                                      mode_t mode = 0600, gid_t group = 0);

// nullopt: there is none. Not more than `max_bytes`; no symbolic links.
[[nodiscard]] Result<std::optional<std::string>> read_file(int directory, const std::string& name,
                                                           std::size_t max_bytes = 64U << 10U);

// False: there was none.
[[nodiscard]] Result<bool> remove_file(int directory, const std::string& name);

// Names in a directory, hidden ones left out, sorted.
[[nodiscard]] Result<std::vector<std::string>> names_in(int directory);

}  // namespace stile::netns
