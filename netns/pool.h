// pool: chooses the address of a new agent.
#pragma once

#include <functional>
#include <optional>

#include "acl/address.h"
#include "config/settings.h"

namespace stile::netns {

// Whether an agent can have the address: inside the subnet, neither its first nor its last, not the
// gateway.
[[nodiscard]] bool is_for_agents(const config::NetnsSettings& settings,
                                 const acl::Address& address) noexcept;

// The first free address after the last assigned one, wrapping around at the end of the subnet. In
// rotation, so that a freed address is reused as late as possible: packets for its former owner may
// still be in transit. None: all are taken.
[[nodiscard]] std::optional<acl::Address> next_address(
    const config::NetnsSettings& settings, const std::optional<acl::Address>& last_given,
    const std::function<bool(const acl::Address&)>& is_taken);

}  // namespace stile::netns
