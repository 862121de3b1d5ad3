// repair: restores what should exist, and removes what should not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "netns/host.h"

namespace stile::netns {

// The changes in words, one line each; empty: nothing was wrong.
using Done = std::vector<std::string>;

// Repairs the fence and every complete agent, and removes leftovers of incomplete ones. An agent
// that cannot be repaired does not stop the repair of the others; the first such error is returned
// at the end.
[[nodiscard]] Result<Done> repair(FenceHost& host);

// Repairs only what confines agents: the shared part and the elements, and, unless only the table
// can have changed, the sysctls of all devices. Neither creates a device nor enters a namespace, so
// that no agent can keep it busy. Used by `watch`.
enum class Hold : std::uint8_t { table, everything };
[[nodiscard]] Result<Done> hold_fence(FenceHost& host, Hold what);

}  // namespace stile::netns
