// Listening sockets: from the config, and from systemd.
#include "proxy/server/listeners.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

#include <cerrno>
#include <cstdlib>
#include <memory>

#include "base/passed_descriptors.h"
#include "base/system_error.h"
#include "proxy/server/rendezvous.h"

namespace stile::server {
namespace {

Error listen_failed(const std::string& name) {
  return {"listen " + name + ": " + error_text(errno)};
}

bool set_option(int fd, int level, int option) {
  const int on = 1;
  return ::setsockopt(fd, level, option, &on, sizeof on) == 0;
}

Result<Listener> open_tcp(const config::Endpoint& endpoint, std::size_t count) {
  Listener listener;
  listener.name = endpoint.text();
  listener.address = endpoint.address;
  net::SockAddr address{endpoint.address, endpoint.port};
  // Bind alone first: this fails if another process has the port, with or without SO_REUSEPORT.
  if (const auto probe = bind_socket(address, {SOCK_STREAM}, listener.name); !probe)
    return probe.error();
  for (std::size_t i = 0; i < count; ++i) {
    auto fd = bind_socket(address, {SOCK_STREAM, true}, listener.name);
    if (!fd) return fd.error();
    if (::listen(fd->get(), listen_backlog) != 0) return listen_failed(listener.name);
    listener.sockets.push_back(std::move(*fd));
  }
  return listener;
}

Result<Listener> open_unix(const config::Endpoint& endpoint, const UnixAccess& access) {
  Listener listener;
  listener.name = endpoint.text();
  auto fd = bind_unix(endpoint.unix_path, access, "listen " + listener.name);
  if (!fd) return fd.error();
  listener.sockets.push_back(std::move(*fd));
  return listener;
}

}  // namespace

Result<UniqueFd> bind_socket(const net::SockAddr& address, const SocketBinding& binding,
                             const std::string& name) {
  UniqueFd fd{::socket(address.family(), binding.type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (!fd) return listen_failed(name);
  const bool is_tcp = binding.type == SOCK_STREAM;
  // For UDP it would mean to take over another process's address.
  if (is_tcp) set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR);
  if (binding.share_port) set_option(fd.get(), SOL_SOCKET, SO_REUSEPORT);
  // The address of the fence's gateway may be set up later than the daemon.
  set_option(fd.get(), IPPROTO_IP, IP_FREEBIND);
  if (binding.is_transparent && !set_option(fd.get(), IPPROTO_IP, IP_TRANSPARENT)) {
    return listen_failed(name);
  }
  // [::] serves IPv4 too, as usual; an agent is then known by its IPv4 address.
  const bool is_any = address.address() == acl::Address::v6({});
  if (address.family() == AF_INET6 && !is_any) set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY);
  // Accepted sockets inherit it.
  if (is_tcp) set_option(fd.get(), IPPROTO_TCP, TCP_NODELAY);
  if (::bind(fd.get(), address.get(), address.size()) != 0) return listen_failed(name);
  return fd;
}

Result<Listener> open_listener(const config::Endpoint& endpoint, std::optional<std::string> agent,
                               std::size_t per_worker, const UnixAccess& access) {
  auto opened =
      endpoint.unix_path.empty() ? open_tcp(endpoint, per_worker) : open_unix(endpoint, access);
  if (opened) opened->agent = std::move(agent);
  return opened;
}

Result<PassedSockets> passed_sockets(const config::ServerSettings& settings) {
  char** names = nullptr;
  const int count = ::sd_listen_fds_with_names(1, &names);
  PassedSockets passed;
  for (int i = 0; i < count; ++i) {
    const std::unique_ptr<char, decltype(&std::free)> given{names[i], &std::free};
    const std::string name{given.get()};
    if (name == rendezvous_name) continue;  // taken already
    UniqueFd fd{SD_LISTEN_FDS_START + i};
    const int flags = ::fcntl(fd.get(), F_GETFL);
    passed.may_block = passed.may_block || (flags & O_NONBLOCK) == 0;
    ::fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK);
    Listener listener;
    listener.name = std::string{from_systemd} + name + ")";
    if (name == "capture") {
      if (auto added = add_passed(passed.capture, std::move(fd)); !added) return added.error();
      continue;
    }
    if (::sd_is_socket(fd.get(), AF_UNSPEC, SOCK_STREAM, 1) <= 0) {
      return Error{"socket " + listener.name + ": not a listening stream socket"};
    }
    const auto is_at = [&](const std::string& path) {
      return ::sd_is_socket_unix(fd.get(), SOCK_STREAM, 1, path.c_str(), 0) > 0;
    };
    net::SockAddr address;
    ::getsockname(fd.get(), address.get(), address.size_for_kernel());
    const bool is_unix = address.family() == AF_UNIX;
    if (is_unix && (name == "control" || is_at(settings.control))) {
      passed.control.control = std::move(fd);
      continue;
    }
    if (is_unix && (name == "read" || is_at(read_only_path(settings)))) {
      passed.control.read_only = std::move(fd);
      continue;
    }
    if (is_unix) {
      listener.agent = name;
      refuse_descriptors(fd.get());
    } else {
      listener.address = address.address();
    }
    listener.sockets.push_back(std::move(fd));
    passed.listeners.push_back(std::move(listener));
  }
  std::free(names);
  return passed;
}

}  // namespace stile::server
