// A directory that only root can write.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stile::netns {

// Creates a directory, or uses an existing one if root owns it and only root can write to it. Never
// follows anything that a less privileged process could have created.
[[nodiscard]] Result<UniqueFd> open_directory(const std::string& path, mode_t mode,
                                              gid_t group = 0);

}  // namespace stile::netns
