// Listening sockets: those of the config, and those that systemd passes.
#include "proxy/server/listeners.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "audit/error_text.h"
#include "proxy/net/sockaddr.h"

namespace stile::server {
namespace {

constexpr int backlog = 4096;

Error failed(const std::string& name) {
  return {"listen " + name + ": " + audit::error_text(errno)};
}

void set_option(int fd, int level, int option) {
  const int on = 1;
  ::setsockopt(fd, level, option, &on, sizeof on);
}

Result<UniqueFd> bind_tcp(const net::SockAddr& address, bool share_port, const std::string& name) {
  UniqueFd fd{::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (!fd) return failed(name);
  set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR);
  if (share_port) set_option(fd.get(), SOL_SOCKET, SO_REUSEPORT);
  // The address of the fence's gateway may come later than the daemon.
  set_option(fd.get(), IPPROTO_IP, IP_FREEBIND);
  // [::] serves IPv4 too, as everywhere; an agent is known by its IPv4 address then.
  const bool is_any = address.address() == acl::Address::v6({});
  if (address.family() == AF_INET6 && !is_any) set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY);
  set_option(fd.get(), IPPROTO_TCP, TCP_NODELAY);  // accepted sockets inherit it
  if (::bind(fd.get(), address.get(), address.size()) != 0) return failed(name);
  return fd;
}

Result<Listener> open_tcp(const config::Endpoint& endpoint, std::size_t count) {
  Listener listener;
  listener.name = endpoint.text();
  listener.address = endpoint.address;
  net::SockAddr address{endpoint.address, endpoint.port};
  // Alone first: this fails if anybody else has the port, with or without SO_REUSEPORT.
  if (const auto probe = bind_tcp(address, false, listener.name); !probe) return probe.error();
  for (std::size_t i = 0; i < count; ++i) {
    auto fd = bind_tcp(address, true, listener.name);
    if (!fd) return fd.error();
    if (::listen(fd->get(), backlog) != 0) return failed(listener.name);
    listener.sockets.push_back(std::move(*fd));
  }
  return listener;
}

// A socket that nobody serves any more is replaced; one that somebody does is not.
bool is_stale(const sockaddr_un& address) {
  struct stat info {};
  if (::lstat(address.sun_path, &info) != 0 || !S_ISSOCK(info.st_mode)) return false;
  const UniqueFd probe{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  return ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
         errno == ECONNREFUSED;
}

Result<Listener> open_unix(const config::Endpoint& endpoint) {
  Listener listener;
  listener.name = endpoint.text();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (endpoint.unix_path.size() >= sizeof address.sun_path) {
    return Error{"listen " + listener.name + ": the path is too long for a socket"};
  }
  std::memcpy(address.sun_path, endpoint.unix_path.data(), endpoint.unix_path.size());
  UniqueFd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (!fd) return failed(listener.name);
  if (is_stale(address)) ::unlink(address.sun_path);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(fd.get(), backlog) != 0) {
    return failed(listener.name);
  }
  listener.sockets.push_back(std::move(fd));
  return listener;
}

}  // namespace

Result<Listener> open_listener(const config::Endpoint& endpoint, std::optional<std::string> agent,
                               std::size_t per_worker) {
  auto opened = endpoint.unix_path.empty() ? open_tcp(endpoint, per_worker) : open_unix(endpoint);
  if (opened) opened->agent = std::move(agent);
  return opened;
}

Result<std::vector<Listener>> passed_listeners() {
  char** names = nullptr;
  const int count = ::sd_listen_fds_with_names(1, &names);
  std::vector<Listener> listeners;
  for (int i = 0; i < count; ++i) {
    const std::unique_ptr<char, decltype(&std::free)> name{names[i], &std::free};
    UniqueFd fd{SD_LISTEN_FDS_START + i};
    Listener listener;
    listener.name = "from systemd (" + std::string{name.get()} + ")";
    if (::sd_is_socket(fd.get(), AF_UNSPEC, SOCK_STREAM, 1) <= 0) {
      return Error{"socket " + listener.name + ": not a listening stream socket"};
    }
    ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
    net::SockAddr address;
    ::getsockname(fd.get(), address.get(), address.size_for_kernel());
    if (address.family() == AF_UNIX) {
      listener.agent = name.get();
    } else {
      listener.address = address.address();
    }
    listener.sockets.push_back(std::move(fd));
    listeners.push_back(std::move(listener));
  }
  std::free(names);
  return listeners;
}

}  // namespace stile::server
