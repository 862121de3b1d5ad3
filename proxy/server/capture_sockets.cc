// The sockets of captured traffic.
#include "proxy/server/capture_sockets.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

#include <cerrno>

#include "base/system_error.h"
#include "proxy/net/sockaddr.h"
#include "proxy/server/listeners.h"

namespace stile::server {
namespace {

constexpr std::uint16_t name_server_port = 53;

Result<std::vector<UniqueFd>> open_all(int type, const config::NetnsSettings& settings,
                                       std::uint16_t port, std::size_t count) {
  const net::SockAddr address{settings.gateway, port};
  const std::string name = net::endpoint_text(settings.gateway, port);
  // Bind alone first, as for other listeners: an address that another process has is an error.
  SocketBinding binding{type, false, true};
  if (const auto probe = bind_socket(address, binding, name); !probe) return probe.error();
  binding.share_port = true;
  std::vector<UniqueFd> sockets;
  for (std::size_t i = 0; i < count; ++i) {
    auto fd = bind_socket(address, binding, name);
    if (!fd) return fd.error();
    if (type == SOCK_STREAM && ::listen(fd->get(), listen_backlog) != 0) {
      return system_error("listen " + name);
    }
    sockets.push_back(std::move(*fd));
  }
  return sockets;
}

}  // namespace

Result<CaptureSockets> open_capture(const config::NetnsSettings& settings, std::size_t workers) {
  auto questions = open_all(SOCK_DGRAM, settings, name_server_port, workers);
  if (!questions) return questions.error();
  auto connections = open_all(SOCK_STREAM, settings, settings.capture_port(), workers);
  if (!connections) return connections.error();
  return CaptureSockets{std::move(*connections), std::move(*questions)};
}

Result<void> add_passed(CaptureSockets& sockets, UniqueFd fd) {
  int is_transparent = 0;
  socklen_t size = sizeof is_transparent;
  ::getsockopt(fd.get(), IPPROTO_IP, IP_TRANSPARENT, &is_transparent, &size);
  if (is_transparent == 0) {
    return Error{"socket of captured traffic: it needs IP_TRANSPARENT (Transparent=yes in a unit)"};
  }
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
  if (::sd_is_socket(fd.get(), AF_INET, SOCK_STREAM, 1) > 0) {
    sockets.connections.push_back(std::move(fd));
  } else if (::sd_is_socket(fd.get(), AF_INET, SOCK_DGRAM, 0) > 0) {
    sockets.questions.push_back(std::move(fd));
  } else {
    return Error{"socket of captured traffic: neither a TCP listener nor a UDP socket"};
  }
  return {};
}

Result<void> share_listener(CaptureSockets& sockets, std::size_t workers) {
  while (!sockets.connections.empty() && sockets.connections.size() < workers) {
    UniqueFd copy{::fcntl(sockets.connections.front().get(), F_DUPFD_CLOEXEC, 0)};
    if (!copy) return system_error("cannot share the listener of captured connections");
    sockets.connections.push_back(std::move(copy));
  }
  return {};
}

}  // namespace stile::server
