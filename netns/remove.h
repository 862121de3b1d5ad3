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

// With an instance, an agent of that id with another instance is left alone, as if there were none.
[[nodiscard]] Result<Removed> remove(FenceHost& host, const std::string& id, bool kill,
                                     const std::string& instance = {},
                                     const BeforeStep& before = {});

}  // namespace stile::netns
