// WorkerFile: what stile-spawner tells `stile-netns worker` about one worker. Pure.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/diagnostics.h"
#include "config/launch.h"
#include "config/narrow.h"

namespace stile::worker {

struct WorkerFile {
  std::string id, instance;
  std::string workspace;  // on the host; shown as /workspace
  config::WorkspaceAccess workspace_access = config::WorkspaceAccess::write;
  std::uint32_t caller = 0;          // the user whose files in the workspace become the worker's
  std::vector<std::string> command;  // runs all the time; empty: the worker waits for tasks
  std::vector<std::string> task;     // what a task starts; empty: there are no tasks
  std::uint32_t max_tasks = 1;       // at the same time
  std::vector<config::Variable> environment;
  std::vector<std::string> read, write;
  std::uint64_t disk_mb = 0, max_processes = 0;  // 0: no limit
  std::string socket;                            // where tasks are requested
};

inline constexpr std::size_t max_worker_file_bytes = 256U << 10U;

[[nodiscard]] std::string worker_file_text(const WorkerFile& file);
[[nodiscard]] config::Checked<WorkerFile> parse_worker_file(std::string_view text,
                                                            const std::string& name);

}  // namespace stile::worker
