// files: small files of our own, written completely or not at all.
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

// A Result with a text, made explicitly, since a string could also become an Error.
[[nodiscard]] inline Result<std::string> text_result(std::string text) {
  return Result<std::string>{boost::system::in_place_value, std::move(text)};
}

// Creates a directory, or uses an existing one if root owns it and only root can write to it. Never
// follows anything that a less privileged process could have created.
[[nodiscard]] Result<UniqueFd> open_directory(const std::string& path, mode_t mode,
                                              gid_t group = 0);

// Writes a temporary file beside the path and renames it, so that a reader sees the old file or the
// new one. A symbolic link at the path is replaced, not followed.
[[nodiscard]] Result<void> write_file(int directory, const std::string& name, std::string_view text,
                                      mode_t mode = 0600, gid_t group = 0);

// nullopt: no such file. Reads at most `max_bytes`; refuses symbolic links.
[[nodiscard]] Result<std::optional<std::string>> read_file(int directory, const std::string& name,
                                                           std::size_t max_bytes = 64U << 10U);

// False: no such file.
[[nodiscard]] Result<bool> remove_file(int directory, const std::string& name);

// Names in a directory, sorted, without hidden ones.
[[nodiscard]] Result<std::vector<std::string>> names_in(int directory);

}  // namespace stile::netns
