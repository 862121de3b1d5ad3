// check: verifies the fence by inspecting it and by trying to get through.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "netns/host.h"
#include "netns/table_state.h"

namespace stile::netns {

struct CheckRow {
  std::string agent;  // "-": shared by all agents
  std::string probe;
  std::string expected, got;
  bool is_good = false;
  bool is_of_fence = true;  // false: no effect on what gets out
};

struct AgentCounts {
  std::string agent;
  PacketCount passed, refused;
};

struct CheckReport {
  std::vector<CheckRow> rows;
  std::vector<AgentCounts> counts;
  [[nodiscard]] bool is_good() const;
  [[nodiscard]] bool is_fence_whole() const;
};

// Checks one agent, or all. An error means that nothing could be checked.
[[nodiscard]] Result<CheckReport> check(FenceHost& host, const std::optional<std::string>& id);

}  // namespace stile::netns
