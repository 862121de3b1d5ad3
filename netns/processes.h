// processes: who is in an agent's namespaces.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "acl/result.h"
#include "proxy/base/unique_fd.h"

namespace stile::netns {

struct Process {
  pid_t pid = 0;
  std::string name;
};

// Those in that network namespace, and those in its user namespace or one below it: a process can
// leave the first for one that it made itself, but not the second.
[[nodiscard]] Result<std::vector<Process>> processes_in(const UniqueFd& namespace_fd);

// Kills until there is none left. Returns those that were found.
[[nodiscard]] Result<std::vector<Process>> kill_processes_in(const UniqueFd& namespace_fd);

}  // namespace stile::netns
