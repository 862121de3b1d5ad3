// fence: what all agents share on the host's side: the gateway's address, the table, and the
// unreachable route for unused addresses.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "netns/host.h"

namespace stile::netns {

struct FenceState {
  bool has_gateway = false;      // on lo
  bool has_unreachable = false;  // the route for the rest of the subnet
  bool has_capture = false;      // the local route to the capture subnet, if there is capture
  bool has_table = false;        // identical to ours, except for elements
  [[nodiscard]] bool is_whole() const noexcept {
    return has_gateway && has_unreachable && has_capture && has_table;
  }
};

[[nodiscard]] Result<FenceState> inspect_fence(FenceHost& host);

// Creates what is missing. A table that differs from ours in any rule is replaced in one
// transaction, with the elements of all complete records. Returns the changes in words; empty if
// there were none. The caller holds the lock.
[[nodiscard]] Result<std::vector<std::string>> raise_fence(FenceHost& host);

}  // namespace stile::netns
