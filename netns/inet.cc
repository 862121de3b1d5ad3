// inet: IPv4 addresses, routes and neighbours of devices.
#include "netns/inet.h"

#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace stile::netns {
namespace {

constexpr std::uint8_t whole_address = 32;
// A higher metric than any route that an operator sets for the same prefix.
constexpr std::uint32_t last_metric = 0xffffffff;

Result<bool> accept_existing(const KernelAnswer& answer, const std::string& what) {
  if (!answer.is_ok() && answer.code != EEXIST) return answer.error(what);
  return answer.is_ok();
}

rtmsg& put_route(NetlinkMessage& message, const acl::Prefix& to, std::uint8_t type,
                 std::uint8_t scope) {
  auto& route = message.extra<rtmsg>();
  route.rtm_family = AF_INET;
  route.rtm_dst_len = to.length;
  route.rtm_table = RT_TABLE_MAIN;
  route.rtm_protocol = RTPROT_STATIC;
  route.rtm_type = type;
  route.rtm_scope = scope;
  message.put_address(RTA_DST, to.address);
  return route;
}

struct FoundRoute {
  std::uint8_t type = RTN_UNSPEC;
  acl::Prefix to;
  int index = 0;
};

// The route that the kernel would use, as it is in the table.
Result<FoundRoute> matching_route(Netlink& netlink, const acl::Address& to) {
  NetlinkMessage message{RTM_GETROUTE, 0};
  auto& request = message.extra<rtmsg>();
  request.rtm_family = AF_INET;
  request.rtm_dst_len = whole_address;
  request.rtm_flags = RTM_F_FIB_MATCH | RTM_F_LOOKUP_TABLE;
  message.put_address(RTA_DST, to);
  FoundRoute found;
  const auto answer = netlink.ask(message, [&](const nlmsghdr& part) {
    const auto* route = static_cast<const rtmsg*>(mnl_nlmsg_get_payload(&part));
    found.type = route->rtm_type;
    found.to.length = route->rtm_dst_len;
    for_attributes(part, sizeof(rtmsg), [&](std::uint16_t type, const nlattr& attribute) {
      if (type == RTA_DST) found.to.address = address_of(attribute);
      if (type == RTA_OIF) found.index = static_cast<int>(mnl_attr_get_u32(&attribute));
    });
  });
  // No route, or one that refuses: both are valid answers.
  const bool is_answer = answer.is_ok() || answer.code == ENETUNREACH ||
                         answer.code == EHOSTUNREACH || answer.code == EACCES ||
                         answer.code == EINVAL;
  if (!is_answer) return answer.error("cannot look up the route to " + to.text());
  return found;
}

Result<void> for_addresses(Netlink& netlink,
                           const std::function<void(int, const acl::Address&)>& each) {
  NetlinkMessage message{RTM_GETADDR, NLM_F_DUMP};
  message.extra<ifaddrmsg>().ifa_family = AF_INET;
  const auto answer = netlink.ask(message, [&](const nlmsghdr& part) {
    const auto* found = static_cast<const ifaddrmsg*>(mnl_nlmsg_get_payload(&part));
    for_attributes(part, sizeof(ifaddrmsg), [&](std::uint16_t type, const nlattr& attribute) {
      if (type == IFA_LOCAL) each(static_cast<int>(found->ifa_index), address_of(attribute));
    });
  });
  if (!answer.is_ok() && answer.code != EINTR) return answer.error("cannot list the addresses");
  return {};
}

}  // namespace

Result<bool> add_address(Netlink& netlink, int index, const acl::Address& address) {
  NetlinkMessage message{RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL};
  auto& request = message.extra<ifaddrmsg>();
  request.ifa_family = AF_INET;
  request.ifa_prefixlen = whole_address;
  request.ifa_index = static_cast<std::uint32_t>(index);
  message.put_address(IFA_LOCAL, address);
  message.put_address(IFA_ADDRESS, address);
  return accept_existing(netlink.change(message), "cannot add the address " + address.text());
}

Result<bool> has_address(Netlink& netlink, int index, const acl::Address& address) {
  bool is_there = false;
  const auto listed = for_addresses(netlink, [&](int device, const acl::Address& found) {
    if (device == index && found == address) is_there = true;
  });
  if (!listed) return listed.error();
  return is_there;
}

Result<std::optional<acl::Address>> first_host_address(Netlink& netlink) {
  std::optional<acl::Address> first;
  const auto listed = for_addresses(netlink, [&](int device, const acl::Address& found) {
    if (device != loopback_index && !first) first = found;
  });
  if (!listed) return listed.error();
  return first;
}

Result<bool> add_host_route(Netlink& netlink, int index, const acl::Address& to) {
  NetlinkMessage message{RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE};
  put_route(message, {to, whole_address}, RTN_UNICAST, RT_SCOPE_LINK);
  message.put_u32(RTA_OIF, static_cast<std::uint32_t>(index));
  return accept_existing(netlink.change(message), "cannot add the route to " + to.text());
}

Result<bool> has_host_route(Netlink& netlink, int index, const acl::Address& to) {
  const auto found = matching_route(netlink, to);
  if (!found) return found.error();
  return found->type == RTN_UNICAST && found->index == index &&
         found->to == acl::Prefix{to, whole_address};
}

Result<bool> add_default_route(Netlink& netlink, int index, const acl::Address& gateway) {
  NetlinkMessage message{RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE};
  put_route(message, {acl::Address::v4(0), 0}, RTN_UNICAST, RT_SCOPE_UNIVERSE);
  message.put_u32(RTA_OIF, static_cast<std::uint32_t>(index));
  message.put_address(RTA_GATEWAY, gateway);
  return accept_existing(netlink.change(message), "cannot add the default route");
}

Result<bool> leads_through(Netlink& netlink, int index, const acl::Address& to) {
  const auto found = matching_route(netlink, to);
  if (!found) return found.error();
  return found->type == RTN_UNICAST && found->index == index;
}

Result<bool> add_local_route(Netlink& netlink, const acl::Prefix& subnet) {
  NetlinkMessage message{RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL};
  put_route(message, subnet, RTN_LOCAL, RT_SCOPE_HOST);
  message.put_u32(RTA_OIF, loopback_index);
  message.put_u32(RTA_TABLE, RT_TABLE_LOCAL);
  return accept_existing(netlink.change(message), "cannot add the local route to " + subnet.text());
}

Result<bool> has_local_route(Netlink& netlink, const acl::Prefix& subnet) {
  const auto found = matching_route(netlink, subnet.last());
  if (!found) return found.error();
  return found->type == RTN_LOCAL && found->to == subnet;
}

Result<bool> add_unreachable(Netlink& netlink, const acl::Prefix& subnet) {
  NetlinkMessage message{RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL};
  put_route(message, subnet, RTN_UNREACHABLE, RT_SCOPE_UNIVERSE);
  message.put_u32(RTA_PRIORITY, last_metric);
  return accept_existing(netlink.change(message), "cannot add the route to " + subnet.text());
}

Result<bool> has_unreachable(Netlink& netlink, const acl::Prefix& subnet) {
  // A dump, not a look-up: a look-up returns the error that such a route exists to produce.
  NetlinkMessage message{RTM_GETROUTE, NLM_F_DUMP};
  message.extra<rtmsg>().rtm_family = AF_INET;
  bool is_there = false;
  const auto answer = netlink.ask(message, [&](const nlmsghdr& part) {
    const auto* route = static_cast<const rtmsg*>(mnl_nlmsg_get_payload(&part));
    if (route->rtm_type != RTN_UNREACHABLE || route->rtm_dst_len != subnet.length) return;
    for_attributes(part, sizeof(rtmsg), [&](std::uint16_t type, const nlattr& attribute) {
      if (type == RTA_DST && address_of(attribute) == subnet.address) is_there = true;
    });
  });
  if (!answer.is_ok() && answer.code != EINTR) return answer.error("cannot list the routes");
  return is_there;
}

Result<void> add_neighbour(Netlink& netlink, int index, const acl::Address& address,
                           const Mac& mac) {
  NetlinkMessage message{RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE};
  auto& request = message.extra<ndmsg>();
  request.ndm_family = AF_INET;
  request.ndm_ifindex = index;
  request.ndm_state = NUD_PERMANENT;
  message.put_address(NDA_DST, address);
  message.put(NDA_LLADDR, mac.data(), mac.size());
  const auto answer = netlink.change(message);
  if (!answer.is_ok()) return answer.error("cannot add the neighbour " + address.text());
  return {};
}

Result<bool> has_neighbour(Netlink& netlink, int index, const acl::Address& address,
                           const Mac& mac) {
  NetlinkMessage message{RTM_GETNEIGH, 0};
  auto& request = message.extra<ndmsg>();
  request.ndm_family = AF_INET;
  request.ndm_ifindex = index;
  message.put_address(NDA_DST, address);
  bool is_there = false;
  const auto answer = netlink.ask(message, [&](const nlmsghdr& part) {
    const auto* found = static_cast<const ndmsg*>(mnl_nlmsg_get_payload(&part));
    for_attributes(part, sizeof(ndmsg), [&](std::uint16_t type, const nlattr& attribute) {
      if (type == NDA_LLADDR && mnl_attr_get_payload_len(&attribute) == mac.size() &&
          std::memcmp(mnl_attr_get_payload(&attribute), mac.data(), mac.size()) == 0) {
        is_there = (found->ndm_state & NUD_PERMANENT) != 0;
      }
    });
  });
  if (!answer.is_ok() && answer.code != ENOENT) {
    return answer.error("cannot look up the neighbour " + address.text());
  }
  return is_there;
}

}  // namespace stile::netns
