// table_state: reads our table from the kernel without libnftables, which would fetch every element
// of every set for any query.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "acl/address.h"
#include "base/result.h"
#include "netns/agent.h"
#include "netns/netlink.h"

namespace stile::netns {

struct PacketCount {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
};

// The elements of one agent; nullopt: not in the set.
struct AgentElements {
  std::optional<PacketCount> passed;   // of `agents`
  std::optional<PacketCount> refused;  // of `refused`
  bool is_captured = false;            // in `captured`
};

struct AllElements {
  std::map<std::pair<std::string, acl::Address>, PacketCount> agents;  // by device and address
  std::map<std::string, PacketCount> refused;                          // by device
  std::set<std::pair<std::string, acl::Address>> captured;             // by device and address
  [[nodiscard]] AgentElements of(const Agent& agent) const;
};

// `netfilter` is a Netlink of protocol NETLINK_NETFILTER. A missing table is not an error: then
// there are no elements.
[[nodiscard]] Result<AgentElements> read_elements(Netlink& netfilter, const Agent& agent);
[[nodiscard]] Result<AllElements> read_all_elements(Netlink& netfilter);

// Everything in the table except elements and counters, as bytes to compare; empty: no table.
[[nodiscard]] Result<std::string> table_shape(Netlink& netfilter);

}  // namespace stile::netns
