// effective: prints the merged policy of each agent.
#pragma once

#include <ostream>

#include "config/capability.h"
#include "config/load.h"

namespace stile::config {

// One [[agent]] table for each agent: every key with its value, followed by the place of the value
// unless it is a default. Values that were merged are printed together. What `can` stands for
// follows as comments.
void print_effective(const Loaded& loaded, std::ostream& out);
void print_effective(const AgentSettings& agent, const Settings& settings,
                     const ListFileCache& lists, CapabilityFiles& capabilities, std::ostream& out);

}  // namespace stile::config
