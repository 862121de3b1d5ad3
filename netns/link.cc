// link: the veth pair of an agent.
#include "netns/link.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace stile::netns {
namespace {

Link link_of(const nlmsghdr& message) {
  const auto* info = static_cast<const ifinfomsg*>(mnl_nlmsg_get_payload(&message));
  Link link{info->ifi_index, info->ifi_flags, {}, {}};
  for_attributes(message, sizeof(ifinfomsg), [&](std::uint16_t type, const nlattr& attribute) {
    if (type == IFLA_IFNAME) link.name = text_of(attribute);
    if (type == IFLA_ADDRESS && mnl_attr_get_payload_len(&attribute) == link.mac.size()) {
      std::memcpy(link.mac.data(), mnl_attr_get_payload(&attribute), link.mac.size());
    }
  });
  return link;
}

}  // namespace

Result<void> add_veth(Netlink& host, const Agent& agent, int namespace_fd) {
  const auto name = device_name(agent.id);
  const auto outer = host_mac(agent.address);
  const auto inner = agent_mac(agent.address);
  NetlinkMessage message{RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL};
  message.extra<ifinfomsg>().ifi_family = AF_UNSPEC;
  message.put(IFLA_IFNAME, name);
  message.put(IFLA_ADDRESS, outer.data(), outer.size());
  auto* info = message.begin(IFLA_LINKINFO);
  message.put(IFLA_INFO_KIND, "veth");
  auto* data = message.begin(IFLA_INFO_DATA);
  auto* peer = message.begin(VETH_INFO_PEER);
  message.extra<ifinfomsg>().ifi_family = AF_UNSPEC;
  message.put(IFLA_IFNAME, inside_device);
  message.put(IFLA_ADDRESS, inner.data(), inner.size());
  message.put_u32(IFLA_NET_NS_FD, static_cast<std::uint32_t>(namespace_fd));
  message.end(peer);
  message.end(data);
  message.end(info);
  const auto answer = host.change(message);
  if (!answer.is_ok()) return answer.error("cannot make the device " + name);
  return {};
}

Result<std::optional<Link>> find_link(Netlink& netlink, const std::string& name) {
  NetlinkMessage message{RTM_GETLINK, 0};
  message.extra<ifinfomsg>().ifi_family = AF_UNSPEC;
  message.put(IFLA_IFNAME, name);
  std::optional<Link> found;
  const auto answer = netlink.ask(message, [&](const nlmsghdr& part) { found = link_of(part); });
  if (!answer.is_ok() && answer.code != ENODEV) return answer.error("cannot look up " + name);
  return found;
}

Result<std::vector<Link>> fence_links(Netlink& netlink) {
  NetlinkMessage message{RTM_GETLINK, NLM_F_DUMP};
  message.extra<ifinfomsg>().ifi_family = AF_UNSPEC;
  std::vector<Link> links;
  const auto answer = netlink.ask(message, [&](const nlmsghdr& part) {
    auto link = link_of(part);
    if (std::string_view{link.name}.substr(0, device_prefix.size()) == device_prefix) {
      links.push_back(std::move(link));
    }
  });
  // A device that appears or disappears meanwhile is found the next time.
  if (!answer.is_ok() && answer.code != EINTR) return answer.error("cannot list the devices");
  return links;
}

Result<void> raise_link(Netlink& netlink, int index, bool without_arp) {
  unsigned flags = IFF_UP;
  if (without_arp) flags |= IFF_NOARP;
  NetlinkMessage message{RTM_NEWLINK, 0};
  auto& info = message.extra<ifinfomsg>();
  info.ifi_family = AF_UNSPEC;
  info.ifi_index = index;
  info.ifi_flags = flags;
  info.ifi_change = flags;
  const auto answer = netlink.change(message);
  if (!answer.is_ok()) return answer.error("cannot raise device " + std::to_string(index));
  return {};
}

Result<bool> remove_link(Netlink& netlink, const std::string& name) {
  NetlinkMessage message{RTM_DELLINK, 0};
  message.extra<ifinfomsg>().ifi_family = AF_UNSPEC;
  message.put(IFLA_IFNAME, name);
  const auto answer = netlink.change(message);
  if (answer.code == ENODEV) return false;
  if (!answer.is_ok()) return answer.error("cannot remove the device " + name);
  return true;
}

}  // namespace stile::netns
