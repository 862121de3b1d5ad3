// watch: keeps the fence intact while it runs.
#include "netns/watch.h"

#include <fcntl.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "base/local_socket.h"
#include "base/system_error.h"
#include "netns/repair.h"
#include "netns/ruleset.h"

namespace stile::netns {
namespace {

constexpr int quiet_ms = 60'000;
constexpr int after_failure_ms = 200;
constexpr int receive_buffer_bytes = 4 << 20;  // other tools may load thousands of rules

bool is_about_our_table(const nlmsghdr& event) {
  const auto* header = static_cast<const nfgenmsg*>(mnl_nlmsg_get_payload(&event));
  if (header->nfgen_family != NFPROTO_INET) return false;
  // The first attribute is the table's name in every message except the end of a transaction.
  constexpr std::uint16_t table_attribute = NFTA_TABLE_NAME;
  bool is_ours = false;
  for_attributes(event, sizeof(nfgenmsg), [&](std::uint16_t type, const nlattr& attribute) {
    if (type == table_attribute) is_ours = text_of(attribute) == table_name;
  });
  return is_ours;
}

// Reads all pending events. True: one was relevant, or some were lost.
bool drain(const Netlink& events, int protocol) {
  std::vector<char> buffer(64U << 10U);
  bool is_of_interest = false;
  while (true) {
    const auto got = ::recv(events.fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && errno == ENOBUFS) {
      is_of_interest = true;
      continue;
    }
    if (got <= 0) return is_of_interest;
    int left = static_cast<int>(got);
    for (const auto* event = reinterpret_cast<const nlmsghdr*>(buffer.data());
         mnl_nlmsg_ok(event, left); event = mnl_nlmsg_next(event, &left)) {
      if (may_open_fence(*event, protocol)) is_of_interest = true;
    }
  }
}

Result<Netlink> follow(int protocol, const std::vector<unsigned>& groups) {
  auto events = Netlink::open(protocol);
  if (!events) return events;
  ::setsockopt(events->fd(), SOL_SOCKET, SO_RCVBUFFORCE, &receive_buffer_bytes,
               sizeof receive_buffer_bytes);
  for (const auto group : groups) {
    if (auto joined = events->join(group); !joined) return joined.error();
  }
  return events;
}

}  // namespace

bool may_open_fence(const nlmsghdr& event, int protocol) {
  if (protocol == NETLINK_ROUTE) {
    return event.nlmsg_type == RTM_NEWNETCONF || event.nlmsg_type == RTM_DELADDR;
  }
  if ((event.nlmsg_type >> 8U) != NFNL_SUBSYS_NFTABLES) return false;
  switch (event.nlmsg_type & 0xffU) {
    case NFT_MSG_NEWGEN:
    case NFT_MSG_NEWSETELEM:  // frequent, from `create`; gives other agents no access
      return false;
    default:
      return is_about_our_table(event);
  }
}

Error watch(FenceHost& host, const std::function<Result<Setup>()>& read_config,
            const std::function<void()>& ready,
            const std::function<void(const std::string&)>& say) {
  // Subscribes before the first check, so that no event in between is missed.
  auto filter = follow(NETLINK_NETFILTER, {NFNLGRP_NFTABLES});
  if (!filter) return filter.error();
  auto route = follow(NETLINK_ROUTE, {RTNLGRP_IPV4_NETCONF, RTNLGRP_IPV4_IFADDR});
  if (!route) return route.error();
  Hold due = Hold::everything;
  bool is_due = true, is_ready = false;
  while (true) {
    bool has_failed = false;
    if (is_due) {
      auto setup = read_config();
      if (setup) host.setup = std::move(*setup);
      if (!setup) say("using the config as it was: " + setup.error().message);
      const auto held = hold_fence(host, due);
      has_failed = !held;
      if (!held) say("the fence cannot be restored: " + held.error().message);
      if (held) {
        for (const auto& line : *held) say(line);
        if (!is_ready) ready();
        is_ready = true;
      }
    }
    std::array<pollfd, 2> wait{{{filter->fd(), POLLIN, 0}, {route->fd(), POLLIN, 0}}};
    const int woken = ::poll(wait.data(), wait.size(), has_failed ? after_failure_ms : quiet_ms);
    if (woken < 0 && errno != EINTR) return system_error("cannot wait for events");
    is_due = drain(*filter, NETLINK_NETFILTER);
    due = Hold::table;
    if (drain(*route, NETLINK_ROUTE) || woken == 0 || has_failed) {
      is_due = true;
      due = Hold::everything;
    }
  }
}

void notify_systemd() {
  constexpr std::string_view text = "READY=1";
  const char* path = std::getenv("NOTIFY_SOCKET");
  if (path == nullptr) return;
  auto address = unix_address(path);
  if (!address) return;
  const auto size = offsetof(sockaddr_un, sun_path) + std::strlen(path);
  if (path[0] == '@') address->sun_path[0] = '\0';  // in the abstract namespace
  const UniqueFd fd{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  ::sendto(fd.get(), text.data(), text.size(), MSG_NOSIGNAL, generic(*address),
           static_cast<socklen_t>(size));
}

}  // namespace stile::netns
