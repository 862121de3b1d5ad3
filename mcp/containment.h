// containment: whether workers are confined, from what spawner and daemon say of them. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/json_value.h"

namespace stile::mcp {

struct WorkerAtDaemon {
  std::string id;
  std::string status;        // by the spawner
  Json agent;                // by the daemon; null: it does not know the worker
  std::string problem = {};  // why that could not be asked
};

// `daemon` is its answer to `status`, null if there is none; `problem` says why.
[[nodiscard]] Json containment(const Json& daemon, const std::string& problem,
                               const std::vector<WorkerAtDaemon>& workers);

}  // namespace stile::mcp
