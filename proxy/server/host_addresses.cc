// The addresses of this host: never dialled for an agent, however public they are.
#include "proxy/server/host_addresses.h"

#include <ifaddrs.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

#include "proxy/net/sockaddr.h"

namespace stile::server {

std::shared_ptr<const acl::PrefixMap> own_addresses(const std::vector<acl::Address>& listeners) {
  std::vector<std::pair<acl::Prefix, acl::PrefixMap::Value>> entries;
  const auto add = [&entries](const acl::Address& address) {
    entries.push_back({{address, static_cast<std::uint8_t>(address.is_v4() ? 32 : 128)}, 0});
  };
  for (const acl::Address& address : listeners) add(address);
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) == 0) {
    for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
      if (entry->ifa_addr == nullptr) continue;
      const int family = entry->ifa_addr->sa_family;
      if (family != AF_INET && family != AF_INET6) continue;
      net::SockAddr address;
      std::memcpy(address.get(), entry->ifa_addr,
                  family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
      add(address.address());
    }
    ::freeifaddrs(list);
  }
  return std::make_shared<acl::PrefixMap>(std::move(entries));
}

UniqueFd watch_addresses() {
  UniqueFd fd{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE)};
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;
  if (fd && ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    fd.reset();
  }
  return fd;
}

}  // namespace stile::server
