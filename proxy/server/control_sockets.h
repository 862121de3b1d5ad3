// The control sockets: bound before privileges are dropped, or passed by systemd.
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "config/settings.h"

namespace stile::server {

struct ControlSockets {
  UniqueFd control;
  UniqueFd read_only;  // none unless read_only_group is set
};

// The path of the socket for read-only clients: beside the other one.
[[nodiscard]] std::string read_only_path(const config::ServerSettings& settings);

// Binds those that `passed` does not have yet. The mode is 0660 from the first moment that a client
// could connect. A stale socket, which no process serves, is replaced.
[[nodiscard]] Result<ControlSockets> bind_control(const config::ServerSettings& settings,
                                                  ControlSockets passed);

}  // namespace stile::server
