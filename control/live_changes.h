// LiveChanges: what is in force beside the files, written into a config as if the files said it. A
// policy that is only tried is then judged under the same conditions as the one in force.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/load.h"
#include "control/live_policy.h"

namespace stile::control {

struct LiveChanges {
  std::optional<acl::Mode> mode;
  std::map<std::string, AgentOverlayPtr> overlays;
  std::vector<config::AgentSettings> put;  // agents of put-agent
};
[[nodiscard]] LiveChanges live_changes(const LivePolicy& policy);

// Modes, hosts of grants that hold at `now`, also those of the fleet's policies, revoked hosts, and
// agents of put-agent. Pure.
void write_into(config::Loaded& loaded, const LiveChanges& live, UnixMicros now);

}  // namespace stile::control
