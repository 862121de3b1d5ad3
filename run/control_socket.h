// ControlSocket: where an operator can query and change a running command.
#pragma once

#include <string>

#include "base/unique_fd.h"
#include "run/identity.h"

namespace stile::run {

// In a folder of the caller's that the command does not see. Created before privileges are dropped,
// and before the namespaces, so that it is hidden with all other sockets.
class ControlSocket {
 public:
  ControlSocket() = default;  // no socket: a daemon has its own
  // If no folder is usable, there is no socket, and the command runs anyway.
  explicit ControlSocket(const Identity& identity);
  // Removes the socket.
  ~ControlSocket();
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;

  // Empty: there is no socket.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }
  // The option that `stile allow AGENT PATTERN` needs to find this socket, whatever STILE_SOCKET
  // and other daemons or runs there are: " --run 42".
  [[nodiscard]] const std::string& selector() const noexcept { return selector_; }
  [[nodiscard]] UniqueFd take() noexcept { return std::move(socket_); }

 private:
  std::string path_, folder_, selector_;
  UniqueFd socket_;
  UniqueFd remover_;  // root only: the process that removes the socket waits until this is closed
};

}  // namespace stile::run
