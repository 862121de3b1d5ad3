// Agent: the owner of a namespace, and all names and numbers derived from it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "acl/address.h"
#include "base/result.h"

namespace stile::netns {

// All devices of the fence begin with this prefix. Packets from such a device are dropped unless a
// rule matches: a partly created or partly removed agent has no network at all.
inline constexpr std::string_view device_prefix = "stile-";

// The name of the device inside the namespace.
inline constexpr const char* inside_device = "eth0";

struct Agent {
  std::string id;
  acl::Address address;
  std::string instance;      // random; tells apart two agents that use the same id in turn
  bool is_captured = false;  // has a name server and a default route, which lead to the daemon
  friend bool operator==(const Agent&, const Agent&) = default;
};

using Mac = std::array<std::uint8_t, 6>;

// User ids of the host that a namespace may use. Root inside is `first`.
struct UidRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  friend bool operator==(const UidRange&, const UidRange&) = default;
};

[[nodiscard]] std::string namespace_name(std::string_view id);  // "agent-ID"
// "stile-" and nine characters of a hash: a device name has at most 15, an id up to 64.
[[nodiscard]] std::string device_name(std::string_view id);

// Fixed, so that each end can have the other as a permanent neighbour before it exists.
[[nodiscard]] Mac host_mac(const acl::Address& agent) noexcept;
[[nodiscard]] Mac agent_mac(const acl::Address& agent) noexcept;
[[nodiscard]] bool is_host_mac(const Mac& mac) noexcept;  // of any agent

// 2048 ids per address, from a range that no other tool assigns, so that agents do not share file
// owners and none is a user of the host. A subnet of more than 65,536 addresses would need more ids
// than there are.
[[nodiscard]] Result<UidRange> uid_range(const acl::Prefix& subnet, const acl::Address& agent);

}  // namespace stile::netns
