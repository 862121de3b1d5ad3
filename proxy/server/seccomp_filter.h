// The system calls that the daemon may make. docs/architecture.md has the reasons.
#pragma once

#include "base/result.h"

namespace stile::server {

// For the calling thread and all threads that it starts later.
[[nodiscard]] Result<void> filter_process();
// For the calling thread, in addition to the other.
[[nodiscard]] Result<void> filter_worker();
// For a process of one thread that answers on sockets it has bound before.
[[nodiscard]] Result<void> filter_front();

}  // namespace stile::server
