// link: the veth pair of an agent.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "netns/agent.h"
#include "netns/netlink.h"

namespace stile::netns {

struct Link {
  int index = 0;
  unsigned flags = 0;  // IFF_…
  Mac mac{};
  std::string name;
};

// One end here, down; the other in the namespace, called inside_device. Both get fixed MAC
// addresses: udev would change a name or an address that the kernel chose.
[[nodiscard]] Result<void> add_veth(Netlink& host, const Agent& agent, int namespace_fd);

[[nodiscard]] Result<std::optional<Link>> find_link(Netlink& netlink, const std::string& name);
// Devices whose name begins with device_prefix.
[[nodiscard]] Result<std::vector<Link>> fence_links(Netlink& netlink);

// Sets the device up. Without ARP the device neither asks nor answers, regardless of sysctls.
[[nodiscard]] Result<void> raise_link(Netlink& netlink, int index, bool without_arp);

// Also removes the other end. False: no such device.
[[nodiscard]] Result<bool> remove_link(Netlink& netlink, const std::string& name);

}  // namespace stile::netns
