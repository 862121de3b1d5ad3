// remove: removes an agent, and reports the processes that are still inside.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "netns/apply.h"
#include "netns/host.h"
#include "netns/processes.h"

namespace stile::netns {

struct Removed {
  bool was_there = false;
  std::vector<Process> inside;  // still running, without a network; or killed, if requested
  std::vector<std::string> warnings;
};

[[nodiscard]] Result<Removed> remove(Host& host, const std::string& id, bool kill,
                                     const BeforeStep& before = {});

}  // namespace stile::netns
