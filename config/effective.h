// effective: the policy of each agent after merging, for people.
#pragma once

#include <ostream>

#include "config/load.h"

namespace stile::config {

// One [[agent]] table for each, every key with its value, and behind it where the value stands
// unless it is a default. Values that were added to each other are printed together.
void print_effective(const Loaded& loaded, std::ostream& out);
void print_effective(const AgentSettings& agent, const Settings& settings, const ListFiles& lists,
                     std::ostream& out);

}  // namespace stile::config
