// inet: IPv4 addresses, routes and neighbours of devices.
#pragma once

#include <optional>

#include "acl/address.h"
#include "base/result.h"
#include "netns/agent.h"
#include "netns/netlink.h"

namespace stile::netns {

inline constexpr int loopback_index = 1;  // of `lo`, in every network namespace

// Each `add` function succeeds if the entry already exists. False: it existed.

[[nodiscard]] Result<bool> add_address(Netlink& netlink, int index, const acl::Address& address);
[[nodiscard]] Result<bool> has_address(Netlink& netlink, int index, const acl::Address& address);

// An address of the host other than loopback, for probes.
[[nodiscard]] Result<std::optional<acl::Address>> first_host_address(Netlink& netlink);

// A route to one address, directly through a device. Without a preferred source: the kernel deletes
// such a route together with that address, and the gateway may be missing briefly.
[[nodiscard]] Result<bool> add_host_route(Netlink& netlink, int index, const acl::Address& to);
[[nodiscard]] Result<bool> has_host_route(Netlink& netlink, int index, const acl::Address& to);

// Unused addresses of the subnet are answered with "unreachable" instead of following the default
// route. Otherwise packets for a deleted agent would leave the host with its data.
[[nodiscard]] Result<bool> add_unreachable(Netlink& netlink, const acl::Prefix& subnet);
[[nodiscard]] Result<bool> has_unreachable(Netlink& netlink, const acl::Prefix& subnet);

// All else through a device, by a gateway that has a host route there.
[[nodiscard]] Result<bool> add_default_route(Netlink& netlink, int index,
                                             const acl::Address& gateway);
// Whether packets to that address would leave through the device.
[[nodiscard]] Result<bool> leads_through(Netlink& netlink, int index, const acl::Address& to);

// The host accepts packets to all addresses of a subnet.
[[nodiscard]] Result<bool> add_local_route(Netlink& netlink, const acl::Prefix& subnet);
[[nodiscard]] Result<bool> has_local_route(Netlink& netlink, const acl::Prefix& subnet);

// Permanent: no ARP packet can change it.
[[nodiscard]] Result<void> add_neighbour(Netlink& netlink, int index, const acl::Address& address,
                                         const Mac& mac);
[[nodiscard]] Result<bool> has_neighbour(Netlink& netlink, int index, const acl::Address& address,
                                         const Mac& mac);

}  // namespace stile::netns
