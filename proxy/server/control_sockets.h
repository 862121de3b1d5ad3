// The control sockets: bound before privileges are dropped, or passed by systemd.
#pragma once

#include <string>

#include "acl/result.h"
#include "config/settings.h"
#include "proxy/base/unique_fd.h"

namespace stile::server {

struct ControlSockets {
  UniqueFd control;
  UniqueFd read_only;  // none unless read_only_group is set
};

// Where the socket for those who only look is: beside the other one.
[[nodiscard]] std::string read_only_path(const config::ServerSettings& settings);

// Binds those that `passed` does not have yet. The mode is 0660 from the first moment that anybody
// could connect. A socket that nobody serves any more is replaced.
[[nodiscard]] Result<ControlSockets> bind_control(const config::ServerSettings& settings,
                                                  ControlSockets passed);

}  // namespace stile::server
