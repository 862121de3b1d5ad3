// reach: checks whether an agent can reach the proxy's port; rules of the host may block it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "netns/host.h"

namespace stile::netns {

enum class Reach : std::uint8_t {
  answered,  // a process listens there
  refused,   // no process listens yet, but the host answered
  silent,    // no answer in time
};

// Opens and closes one connection to the gateway from inside the namespace.
[[nodiscard]] Result<Reach> reach_proxy(const FenceHost& host, const Agent& agent);

// Sends one message to the name server from inside the namespace. It asks for no name, so it leaves
// no line in the log.
[[nodiscard]] Result<Reach> reach_names(const FenceHost& host, const Agent& agent);

// Base chains of other tables that drop the proxy's packets by default, from the output of `nft
// list chains`: "inet filter input". Pure.
[[nodiscard]] std::vector<std::string> dropping_chains(std::string_view listing);

// A warning for the operator, with the rule that would help; empty if the port is reachable.
[[nodiscard]] std::string reach_warning(const FenceHost& host, const Agent& agent);

}  // namespace stile::netns
