// The system calls that the daemon may make at all. docs/architecture.md tells why.
#pragma once

#include "acl/result.h"

namespace stile::server {

// For the calling thread and all that it starts later.
[[nodiscard]] Result<void> filter_process();
// For the calling thread, on top of the other.
[[nodiscard]] Result<void> filter_worker();

}  // namespace stile::server
