// adopt: gives the files of a workspace to its worker.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"

namespace stile::netns {

// Files and directories of `caller` and of earlier workers become those of `owner`, and so does the
// workspace itself if root made it. Everything of other users stays theirs, and so does a file with
// a second name, which may belong to another place. No link is followed. Fails if the directory
// itself belongs to another user.
[[nodiscard]] Result<void> adopt_workspace(const std::string& path, uid_t caller, uid_t owner);

// Makes the directory `path` below the workspace for `owner` if it is missing, with those above it.
// A link on the way is an error.
[[nodiscard]] Result<void> make_missing(const std::string& workspace, const std::string& path,
                                        uid_t owner);

}  // namespace stile::netns
