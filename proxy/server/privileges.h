// The privileges that the daemon gives up before it serves clients.
#pragma once

#include <string>

#include "base/result.h"

namespace stile::server {

// Raises the descriptor limit to the hard limit, disables core dumps (they would contain what
// agents sent), and turns SIGPIPE and SIGXFSZ into errors of the call that caused them.
void prepare_process();

// After binding: becomes `user` if started as root and one is named. Always drops all capabilities,
// and the ways to get one (no_new_privs).
[[nodiscard]] Result<void> drop_privileges(const std::string& user);

}  // namespace stile::server
