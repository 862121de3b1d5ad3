// sockets: the host's TCP connections with an agent's address.
#include "netns/sockets.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "netns/netlink.h"

namespace stile::netns {
namespace {

constexpr std::uint32_t all_states = 0xffffffff;
constexpr unsigned listening = 10;  // TCP_LISTEN; <netinet/tcp.h> and the kernel's header clash

// A program for the kernel's socket filter: "the peer is this address". Without it, the kernel
// would send us every socket of the host.
using Filter = std::array<std::uint8_t, sizeof(inet_diag_bc_op) + sizeof(inet_diag_hostcond) +
                                            sizeof(std::uint32_t)>;

Filter peer_filter(const acl::Address& peer) {
  constexpr int any_port = -1;
  constexpr std::uint8_t all_bits = 32;
  Filter filter{};
  // "no" jumps past the end by one word more than "yes": that is how the program rejects a socket.
  const inet_diag_bc_op op{INET_DIAG_BC_D_COND, sizeof filter, sizeof filter + 4};
  inet_diag_hostcond condition{};
  condition.family = AF_INET;
  condition.prefix_len = all_bits;
  condition.port = any_port;
  const std::uint32_t address = htonl(peer.v4_value());
  std::memcpy(filter.data(), &op, sizeof op);
  std::memcpy(filter.data() + sizeof op, &condition, sizeof condition);
  std::memcpy(filter.data() + sizeof op + sizeof condition, &address, sizeof address);
  return filter;
}

// With the old form of the request, one pass over the kernel's table finds the sockets of both
// families: the IPv4 connections of a listener on [::] are IPv6 sockets.
Result<std::vector<inet_diag_req_v2>> find_sockets(Netlink& diag, const acl::Address& peer) {
  NetlinkMessage message{TCPDIAG_GETSOCK, NLM_F_DUMP};
  auto& request = message.extra<inet_diag_req>();
  request.idiag_family = AF_INET;
  request.idiag_states = all_states & ~(1U << listening);
  const auto filter = peer_filter(peer);
  message.put(INET_DIAG_REQ_BYTECODE, filter.data(), filter.size());
  std::vector<inet_diag_req_v2> found;
  const auto answer = diag.ask(message, [&](const nlmsghdr& part) {
    const auto* socket = static_cast<const inet_diag_msg*>(mnl_nlmsg_get_payload(&part));
    inet_diag_req_v2 one{};
    one.sdiag_family = socket->idiag_family;
    one.sdiag_protocol = IPPROTO_TCP;
    one.id = socket->id;
    found.push_back(one);
  });
  if (!answer.is_ok() && answer.code != EINTR && answer.code != ENOENT) {
    return answer.error("cannot list the connections with " + peer.text());
  }
  return found;
}

}  // namespace

Result<int> close_sockets_with(const acl::Address& peer) {
  auto diag = Netlink::open(NETLINK_SOCK_DIAG);
  if (!diag) return diag.error();
  const auto found = find_sockets(*diag, peer);
  if (!found) return found.error();
  int closed = 0;
  for (const auto& socket : *found) {
    NetlinkMessage message{SOCK_DESTROY, 0};
    message.extra<inet_diag_req_v2>() = socket;
    // Already closed, or not supported by the kernel: the daemon closes it when its card is
    // removed.
    if (diag->change(message).is_ok()) ++closed;
  }
  return closed;
}

}  // namespace stile::netns
