// fence: what all agents share on the host's side: the gateway's address, the table, the route that
// ends what is for nobody.
#pragma once

#include <string>
#include <vector>

#include "acl/result.h"
#include "netns/host.h"

namespace stile::netns {

struct FenceState {
  bool has_gateway = false;      // on lo
  bool has_unreachable = false;  // the route for the rest of the subnet
  bool has_table = false;        // exactly ours, elements aside
  [[nodiscard]] bool is_whole() const noexcept {
    return has_gateway && has_unreachable && has_table;
  }
};

[[nodiscard]] Result<FenceState> inspect_fence(Host& host);

// Sets up what is missing; a table that is not ours in every rule is replaced in one transaction,
// with the elements of all complete records. Returns what was done, in words; nothing if all was
// there. The caller holds the lock.
[[nodiscard]] Result<std::vector<std::string>> raise_fence(Host& host);

}  // namespace stile::netns
