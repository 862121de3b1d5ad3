// plan: what one worker becomes, from a template and what its caller takes away. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unix_time.h"
#include "config/launch.h"
#include "spawn/request.h"
#include "spawn/settings.h"
#include "worker/file.h"

namespace stile::spawn {

struct WorkerPlan {
  std::string card;         // JSON, for `stile-netns create`
  worker::WorkerFile file;  // for `stile-netns worker`, without its socket
  config::ResourceLimits limits;
  std::int64_t ttl_seconds = 0;  // 0: no limit
  std::vector<std::string> tags;
};

struct PlanFacts {
  std::string workspace;  // the worker's own directory
  std::string instance;
  std::uint32_t caller = 0;  // user id
  UnixMicros now = 0;
};

// The request may narrow only the keys that the template lists, and never widens.
[[nodiscard]] Result<WorkerPlan> plan_worker(const Template& from, const SpawnRequest& request,
                                             const PlanFacts& facts);

// What this worker may reach and see, for the log: its card, without values of variables, and its
// paths.
[[nodiscard]] std::string policy_text(const WorkerPlan& plan);

}  // namespace stile::spawn
