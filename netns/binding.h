// binding: what ties an id to an address: the operator's own entry, or a card of ours.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "acl/address.h"
#include "acl/result.h"
#include "config/node.h"
#include "netns/card_text.h"
#include "netns/setup.h"

namespace stile::netns {

struct Binding {
  std::string bound_by;                 // the operator's file; empty: our card
  std::optional<acl::Address> address;  // that is asked for; nullopt: any
  config::Node card;                    // from which ours is made
};

// Pure. An agent that the daemon knows already keeps its entry, and its one address is taken from
// there; asking for another policy for it is an error, since the daemon would refuse the card.
[[nodiscard]] Result<Binding> bind_agent(const config::NetnsSettings& settings,
                                         std::span<const KnownAgent> known, const std::string& id,
                                         const CardRequest& request);

}  // namespace stile::netns
