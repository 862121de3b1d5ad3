// Listening sockets: from the config, and from systemd.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "config/settings.h"
#include "proxy/net/sockaddr.h"
#include "proxy/server/capture_sockets.h"
#include "proxy/server/control_sockets.h"
#include "proxy/server/unix_socket.h"

namespace stile::server {

struct Listener {
  std::vector<UniqueFd> sockets;  // one per worker, or a single one
  std::optional<std::string> agent;
  std::optional<acl::Address> address;  // for IP
  std::string name;                     // for people
};

inline constexpr int listen_backlog = 4096;
// The names of listeners that systemd has passed begin with this.
inline constexpr std::string_view from_systemd = "from systemd (";

// A bound socket. With share_port, others of this process may have the same address.
struct SocketBinding {
  int type;  // SOCK_STREAM or SOCK_DGRAM
  bool share_port = false;
  bool is_transparent = false;  // it gets what the fence captures
};
[[nodiscard]] Result<UniqueFd> bind_socket(const net::SockAddr& address,
                                           const SocketBinding& binding, const std::string& name);

// `per_worker` sockets with SO_REUSEPORT for TCP; unix sockets have one. An address that another
// process holds is an error: with SO_REUSEPORT the kernel would share our clients with it.
[[nodiscard]] Result<Listener> open_listener(const config::Endpoint& endpoint,
                                             std::optional<std::string> agent,
                                             std::size_t per_worker, const UnixAccess& access = {});

// Sockets from systemd. The control sockets are known by their paths, or by the names `control` and
// `read`, those of captured traffic by the name `capture`; any other unix socket belongs to the
// agent that FileDescriptorName= names.
struct PassedSockets {
  std::vector<Listener> listeners;
  ControlSockets control;
  CaptureSockets capture;
  // systemd has cleared O_NONBLOCK, and does so again for each process that it starts. The flag is
  // one for all processes that have the socket.
  bool may_block = false;
};
[[nodiscard]] Result<PassedSockets> passed_sockets(const config::ServerSettings& settings);

}  // namespace stile::server
