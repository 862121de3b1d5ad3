// binding: what binds an id to an address: the operator's own entry, or our card.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "acl/address.h"
#include "base/result.h"
#include "config/node.h"
#include "netns/card_text.h"
#include "netns/setup.h"

namespace stile::netns {

struct AgentBinding {
  std::string bound_by;                 // the operator's file; empty: our card
  std::optional<acl::Address> address;  // the requested address; nullopt: any
  config::Node card;                    // the base for our card
};

// Pure. An agent that the daemon already knows keeps its entry, and its single address comes from
// there. Requesting another policy for it is an error, because the daemon would refuse the card.
[[nodiscard]] Result<AgentBinding> bind_agent(const config::NetnsSettings& settings,
                                              std::span<const KnownAgent> known,
                                              const std::string& id, const CardRequest& request);

}  // namespace stile::netns
