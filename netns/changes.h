// changes: finds the files that were changed beneath a directory since a moment.
#pragma once

#include <sys/types.h>

#include <ctime>

#include "worker/changed_files.h"

namespace stile::netns {

// Now, by the clock that the kernel gives files their times from.
[[nodiscard]] timespec file_clock() noexcept;

// Regular files whose content, name or permissions changed. The kernel's own time counts, which a
// worker cannot set. Directories are opened beneath `top` without following links and without
// leaving its file system, the upper ones first. Left out are directories named .git, and those of
// users other than `caller` and agents that not everybody may read.
[[nodiscard]] worker::ChangedFiles changed_since(int top, const timespec& since, uid_t caller);

}  // namespace stile::netns
