// ControlSocket: where an operator can ask and change a command that runs.
#pragma once

#include <string>

#include "proxy/base/unique_fd.h"
#include "run/identity.h"

namespace stile::run {

// In a folder of the caller's that the command does not see. Made while we may still be somebody
// who can, and before the namespaces, so that it is hidden with all other sockets.
class ControlSocket {
 public:
  ControlSocket() = default;  // none: a daemon has one
  // Without a place for it there is none, and the command runs all the same.
  explicit ControlSocket(const Identity& identity);
  // Removes it.
  ~ControlSocket();
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;

  // Empty: there is none.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }
  // What follows `stile allow AGENT PATTERN`, so that it finds this one: " --run 42", or nothing
  // if there is no other one to find.
  [[nodiscard]] const std::string& selector() const noexcept { return selector_; }
  [[nodiscard]] UniqueFd take() noexcept { return std::move(socket_); }

 private:
  std::string path_, folder_, selector_;
  UniqueFd socket_;
  UniqueFd remover_;  // root only: as long as this is open, the process that removes it waits
};

}  // namespace stile::run
