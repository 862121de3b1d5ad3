// Changes: what a reload makes different, agent by agent, in numbers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "control/base.h"

namespace stile::control {

struct AgentChange {
  std::string agent;
  std::size_t added = 0, removed = 0;  // rules, of allow and deny together
};

// Agents that are the same before and after are left out; one whose rules are the same but whose
// ports (…) are not is there with zeros.
[[nodiscard]] std::vector<AgentChange> compare(const Entries& before, const Entries& now);

// "alpha +3 -1, beta +1 -0", cut after so many agents.
[[nodiscard]] std::string describe(const std::vector<AgentChange>& changes, std::size_t most);

}  // namespace stile::control
