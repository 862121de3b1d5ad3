// inet: IPv4 addresses, routes and neighbours of devices.
#pragma once

#include <optional>

#include "acl/address.h"
#include "acl/result.h"
#include "netns/agent.h"
#include "netns/netlink.h"

namespace stile::netns {

inline constexpr int loopback_index = 1;  // of `lo`, in every network namespace

// Each of the `add` functions is content with finding that it is there already. False: it was.

[[nodiscard]] Result<bool> add_address(Netlink& netlink, int index, const acl::Address& address);
[[nodiscard]] Result<bool> has_address(Netlink& netlink, int index, const acl::Address& address);

// An address of the host that is not loopback's, for those who want to try it.
[[nodiscard]] Result<std::optional<acl::Address>> first_host_address(Netlink& netlink);

// To one address, directly through a device. Without a preferred source: the kernel deletes such a
// route together with that address, and the gateway may be lost for a moment.
[[nodiscard]] Result<bool> add_host_route(Netlink& netlink, int index, const acl::Address& to);
[[nodiscard]] Result<bool> has_host_route(Netlink& netlink, int index, const acl::Address& to);

// What is for nobody in the subnet is answered with "unreachable" instead of following the default
// route: packets for an agent that was deleted would leave the host with its data.
[[nodiscard]] Result<bool> add_unreachable(Netlink& netlink, const acl::Prefix& subnet);
[[nodiscard]] Result<bool> has_unreachable(Netlink& netlink, const acl::Prefix& subnet);

// Permanent: no ARP packet can change it.
[[nodiscard]] Result<void> add_neighbour(Netlink& netlink, int index, const acl::Address& address,
                                         const Mac& mac);
[[nodiscard]] Result<bool> has_neighbour(Netlink& netlink, int index, const acl::Address& address,
                                         const Mac& mac);

}  // namespace stile::netns
