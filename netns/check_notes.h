// check_notes: tells the daemon what a check of the fence found, so that people see it. Pure.
#pragma once

#include <string>
#include <vector>

#include "netns/check.h"

namespace stile::netns {

// One request of the control protocol for each agent of the report. What belongs to all agents
// counts for each.
[[nodiscard]] std::vector<std::string> check_notes(const CheckReport& report);

}  // namespace stile::netns
