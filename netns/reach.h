// reach: can an agent get as far as the proxy's port? Rules of the host may stand in the way.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "acl/result.h"
#include "netns/host.h"

namespace stile::netns {

enum class Reach : std::uint8_t {
  answered,  // somebody listens there
  refused,   // nobody does yet, but the host answered
  silent,    // no answer in time
};

// Opens and drops one connection to the gateway from inside the namespace.
[[nodiscard]] Result<Reach> reach_proxy(const Host& host, const Agent& agent);

// Base chains of other tables that drop by default where the proxy's packets pass, from the output
// of `nft list chains`: "inet filter input". Pure.
[[nodiscard]] std::vector<std::string> dropping_chains(std::string_view listing);

// A warning for the operator, with the rule that would help; empty if the way is free.
[[nodiscard]] std::string reach_warning(const Host& host, const Agent& agent);

}  // namespace stile::netns
