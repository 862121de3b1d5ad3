// Commands: sockets of captured traffic, opened by other programs: the daemon has no right to.
#include <netinet/in.h>
#include <sys/socket.h>

#include <utility>

#include "proxy/commands/answers.h"
#include "proxy/commands/commands.h"
#include "proxy/net/sockaddr.h"
#include "proxy/session/identify.h"

namespace stile::commands {
namespace {

using control::ErrorCode, control::Failure;

Failure unusable(std::string message) { return {ErrorCode::bad_request, std::move(message)}; }

int option_of(const UniqueFd& socket, int level, int name) {
  int value = 0;
  socklen_t size = sizeof value;
  return ::getsockopt(socket.get(), level, name, &value, &size) == 0 ? value : 0;
}

// The address of an IPv4 socket that is a UDP socket or a listener.
control::Outcome<net::SockAddr> address_of(const UniqueFd& socket) {
  if (!socket) return unusable("exactly one socket has to come with the request (SCM_RIGHTS)");
  net::SockAddr address;
  if (option_of(socket, SOL_SOCKET, SO_DOMAIN) != AF_INET ||
      ::getsockname(socket.get(), address.get(), address.size_for_kernel()) != 0) {
    return unusable("what came with the request is not an IPv4 socket");
  }
  const int type = option_of(socket, SOL_SOCKET, SO_TYPE);
  const bool is_listening = option_of(socket, SOL_SOCKET, SO_ACCEPTCONN) != 0;
  if (type != SOCK_DGRAM && (type != SOCK_STREAM || !is_listening)) {
    return unusable("what came with the request is not a listening socket");
  }
  return address;
}

// Only sockets inside a namespace of the agent's own: no other process can reach those.
control::Outcome<void> check_inside(const UniqueFd& socket, const acl::Address& name_server) {
  const auto address = address_of(socket);
  if (!address) return address.error();
  if (!session::is_in_another_namespace(socket.get())) {
    return unusable("the socket is in the daemon's own network namespace");
  }
  if (option_of(socket, SOL_SOCKET, SO_TYPE) == SOCK_DGRAM && address->address() != name_server) {
    return unusable("the name server of netns.capture_subnet is " + name_server.text());
  }
  return boost::system::in_place_value;
}

// Exactly the sockets that the fence hands captured packets to. What arrives there is served as the
// agent of its source address, so that address must be true: in the daemon's namespace the fence
// vouches for it.
control::Outcome<void> check_fence(const UniqueFd& socket, const config::NetnsSettings& netns) {
  const auto address = address_of(socket);
  if (!address) return address.error();
  if (session::is_in_another_namespace(socket.get())) {
    return unusable("the socket is not in the daemon's network namespace");
  }
  if (option_of(socket, IPPROTO_IP, IP_TRANSPARENT) == 0)
    return unusable("it needs IP_TRANSPARENT");
  constexpr std::uint16_t name_server_port = 53;
  const bool is_udp = option_of(socket, SOL_SOCKET, SO_TYPE) == SOCK_DGRAM;
  const std::uint16_t port = is_udp ? name_server_port : netns.capture_port();
  if (address->address() != netns.gateway || address->port() != port) {
    return unusable("the fence captures to " + net::endpoint_text(netns.gateway, port));
  }
  return boost::system::in_place_value;
}

}  // namespace

void Commands::adopt_capture(const Request& request, const Client& client) {
  UniqueFd socket = client->take_descriptor();
  const auto& netns = editor_.settings().netns;
  if (!netns.capture)
    return client->fail(unusable("netns.capture is false in the daemon's config"));
  if (request.agent.empty()) {
    if (const auto checked = check_fence(socket, netns); !checked) {
      return client->fail(checked.error());
    }
    const auto served = daemon_.serve_captured(std::move(socket));
    if (!served) return client->fail({ErrorCode::conflict, served.error().message});
    return client->answer(json(Done{}));
  }
  // As `stile run` has it: the first addresses stand for no name.
  const auto name_server = acl::Address::v4(netns.capture_subnet.first().v4_value() + 1);
  if (const auto checked = check_inside(socket, name_server); !checked) {
    return client->fail(checked.error());
  }
  if (find(request.agent, client) == nullptr) return;
  lend(std::move(socket), request.agent, false, client, name_server);
}

}  // namespace stile::commands
