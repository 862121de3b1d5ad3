// Sandbox: what the kernel refuses the daemon from the moment it serves, taken over or not.
#pragma once

#include <string>
#include <vector>

#include "acl/result.h"

namespace stile::server {

// For the thread that calls and all that it starts later: never another program, another namespace,
// a trace of a process, a listening socket; files are read as permissions allow and written only
// below these directories. Fails rather than to leave something open; a kernel without Landlock is
// served all the same, and said so once.
[[nodiscard]] Result<void> confine_process(const std::vector<std::string>& writable_directories);

// For the calling thread, on top of that: it keeps what it has, accepts, dials, and moves bytes. No
// file by name at all, no bind, no thread, no executable memory.
[[nodiscard]] Result<void> confine_worker();

}  // namespace stile::server
