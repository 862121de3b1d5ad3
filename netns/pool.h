// pool: which address a new agent gets.
#pragma once

#include <functional>
#include <optional>

#include "acl/address.h"
#include "config/settings.h"

namespace stile::netns {

// An address that an agent can have: inside the subnet, neither its first nor its last, not the
// gateway.
[[nodiscard]] bool is_for_agents(const config::NetnsSettings& settings,
                                 const acl::Address& address) noexcept;

// The first free address after the one that was given last, around the end of the subnet if need
// be. In rotation, so that an address that was freed comes back as late as possible: packets for
// its former owner may still be on their way. None: all are taken.
[[nodiscard]] std::optional<acl::Address> next_address(
    const config::NetnsSettings& settings, const std::optional<acl::Address>& last_given,
    const std::function<bool(const acl::Address&)>& is_taken);

}  // namespace stile::netns
