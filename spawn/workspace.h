// workspace: the directory of a worker, below the operator's directories.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stile::spawn {

// Whether the path is absolute, without "." and "..", and in or below one of these. Pure.
[[nodiscard]] bool is_allowed_workspace(const std::string& path,
                                        const std::vector<std::string>& allowed);

// Makes the allowed directories that do not exist. Errors are for the log.
[[nodiscard]] Result<void> make_allowed(const std::vector<std::string>& allowed);

// PARENT/ID, the worker's own directory. Pure.
[[nodiscard]] std::string workspace_of(const std::string& parent, const std::string& id);

// Whether a caller may see what this user owns: the caller's own files and those of agents. Pure.
[[nodiscard]] bool is_shown_owner(std::uint32_t owner, std::uint32_t caller) noexcept;

// Creates it if it is missing; PARENT must exist. One that exists must be the caller's or an
// agent's, or root's and empty. Every part of the path is opened without following links, so that a
// link that is put there meanwhile is refused, too.
[[nodiscard]] Result<void> make_workspace(const std::string& parent, const std::string& id,
                                          const std::vector<std::string>& allowed,
                                          std::uint32_t caller);

// A directory of a worker, opened again: by its path, without links.
[[nodiscard]] Result<UniqueFd> open_workspace(const std::string& path);

}  // namespace stile::spawn
