// daemon_sockets: where programs find the sockets of the daemon, of stile-web and of the spawner.
#pragma once

#include <string>
#include <vector>

namespace stile::control {

// The paths of the control socket: `named` if it is not empty, else $STILE_SOCKET, else the path in
// the config in use, else the default path of a daemon without a config.
[[nodiscard]] std::vector<std::string> daemon_sockets(const std::string& named);

// The paths of the socket where stile-web gives out links: `named`, else $STILE_WEB_SOCKET, else
// the one of this user, then the one of the service.
[[nodiscard]] std::vector<std::string> login_sockets(const std::string& named);

// The path of the spawner's socket: `named`, else $STILE_SPAWNER, else the usual one.
[[nodiscard]] std::string spawner_socket(const std::string& named);

}  // namespace stile::control
