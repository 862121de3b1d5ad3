// processes: finds the processes in an agent's namespaces.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stile::netns {

struct Process {
  pid_t pid = 0;
  std::string name;
};

// The processes in that network namespace, and in its user namespace or one below it: a process can
// leave the first for a namespace that it creates, but it cannot leave the second.
[[nodiscard]] Result<std::vector<Process>> processes_in(const UniqueFd& namespace_fd);

// Kills until none is left. Returns the processes that were found.
[[nodiscard]] Result<std::vector<Process>> kill_processes_in(const UniqueFd& namespace_fd);

}  // namespace stile::netns
