// repair: makes whole what should be there, and takes away what should not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "acl/result.h"
#include "netns/host.h"

namespace stile::netns {

// What was done, in words, one line each; empty: nothing was wrong.
using Done = std::vector<std::string>;

// The fence, every agent that is complete, the leftovers of those that are not. An agent that
// cannot be repaired does not keep the others from it; the first such error is returned at the end.
[[nodiscard]] Result<Done> repair(Host& host);

// Only what keeps agents in: the shared part and the elements, and unless only the table can have
// changed, the sysctls of all devices. Neither makes a device nor enters a namespace, so that no
// agent can keep it busy. What `watch` does.
enum class Hold : std::uint8_t { table, everything };
[[nodiscard]] Result<Done> hold_fence(Host& host, Hold what);

}  // namespace stile::netns
