// Sandbox: what the kernel refuses to the daemon once it serves, even if it is compromised.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace stile::server {

// For the calling thread and all threads that it starts later: no other program, no other
// namespace, no tracing of a process, no listening socket. Files are read as permissions allow and
// written only below these directories. Fails rather than leaving something open; on a kernel
// without Landlock it continues, with one warning.
[[nodiscard]] Result<void> confine_process(const std::vector<std::string>& writable_directories);

// For the calling thread, in addition: it may use its open descriptors, accept, dial, and move
// bytes. No file by name, no bind, no thread, no executable memory.
[[nodiscard]] Result<void> confine_worker();

// For a process of one thread that answers on sockets it has bound before: it may use its open
// descriptors, accept, and connect to unix sockets. No file by name, no network, no thread.
[[nodiscard]] Result<void> confine_front();

}  // namespace stile::server
