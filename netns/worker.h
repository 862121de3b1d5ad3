// worker: keeps one worker of stile-spawner: its command, its tasks and what they write.
#pragma once

#include <sys/types.h>

#include "base/result.h"
#include "netns/host.h"
#include "worker/file.h"

namespace stile::netns {

// Where a worker sees its workspace, and who it is inside.
inline constexpr const char* worker_directory = "/workspace";
inline constexpr const char* worker_home = "/home/agent";
inline constexpr id_t worker_user = 1000;

// Runs the worker in the namespaces of its agent, which must exist, and serves requests for tasks
// at its socket. Ends with the worker's command, or on SIGTERM after the tasks have ended. Returns
// the exit status; an error means that the worker did not start.
[[nodiscard]] Result<int> keep_worker(FenceHost& host, const worker::WorkerFile& file);

}  // namespace stile::netns
