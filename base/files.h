// files: whole files, read with a limit and replaced in one step.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stile {

// Reads to the end; more than `max_bytes` is an error. It does not map the file: truncating a
// mapped file would kill the process with SIGBUS.
[[nodiscard]] Result<std::string> read_all(int fd, std::size_t max_bytes);

// nullopt: no such file. Refuses a symbolic link.
[[nodiscard]] Result<std::optional<std::string>> read_file(int directory, const std::string& name,
                                                           std::size_t max_bytes = 64U << 10U);

// The text of a file that may be missing, such as one in /proc; "" if it cannot be read.
[[nodiscard]] std::string read_or_empty(const std::string& path);

// Whether there is nothing at this path, not even a link.
[[nodiscard]] bool is_missing(const std::string& path);

// False: see errno.
[[nodiscard]] bool write_all(int fd, std::string_view text);

struct FileOwner {
  uid_t user;
  gid_t group;
};
// Writes a temporary file in the directory, syncs and renames it: after a crash the name has the
// old text or the new one. A symbolic link of that name is replaced, not followed. Callers hold a
// lock, so that two writers cannot meet in the temporary file.
[[nodiscard]] Result<void> replace_file(int directory, const std::string& name,
                                        std::string_view text, mode_t mode = 0600,
                                        std::optional<FileOwner> owner = {});

// False: no such file.
[[nodiscard]] Result<bool> remove_file(int directory, const std::string& name);

// Names in a directory, sorted, without hidden ones.
[[nodiscard]] Result<std::vector<std::string>> names_in(int directory);

}  // namespace stile
