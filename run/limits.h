// limits: the resource limits of the command, by rlimits and by the user's systemd manager.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "config/launch.h"

namespace stile::run {

struct ProcessLimit {
  __rlimit_resource resource;
  rlim_t value;
  friend bool operator==(const ProcessLimit&, const ProcessLimit&) = default;
};

// Limits that every process of the command inherits. Pure.
[[nodiscard]] std::vector<ProcessLimit> process_limits(const config::ResourceLimits& limits);

// For this process and its children. Never raises a limit.
[[nodiscard]] Result<void> apply_process_limits(const std::vector<ProcessLimit>& limits);

// Moves a process into its own control group with these limits, through systemd. Returns a line for
// people about each limit that is not enforced for the command as a whole. Call it before the
// process has children.
[[nodiscard]] std::vector<std::string> limit_group(pid_t process,
                                                   const config::ResourceLimits& limits);

}  // namespace stile::run
