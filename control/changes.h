// Changes: the changes of a reload per agent, in numbers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "control/file_policy.h"

namespace stile::control {

struct AgentChange {
  std::string agent;
  std::size_t added = 0, removed = 0;  // rules, of allow and deny together
};

// Leaves out agents that did not change. An agent whose rules are the same but whose ports (…)
// changed is listed with zeros.
[[nodiscard]] std::vector<AgentChange> compare(const Entries& before, const Entries& now);

// "alpha +3 -1, beta +1 -0", cut after this many agents.
[[nodiscard]] std::string describe(const std::vector<AgentChange>& changes, std::size_t most);

}  // namespace stile::control
