// What the daemon gives up before it serves anybody.
#pragma once

#include <string>

#include "acl/result.h"

namespace stile::server {

// Descriptors up to the hard limit, no core dumps (they would hold what agents sent), SIGPIPE and
// SIGXFSZ as errors of the call that caused them.
void prepare_process();

// After binding: becomes `user` if started as root and one is named; in every case no capability
// and no way to get one (no_new_privs).
[[nodiscard]] Result<void> drop_privileges(const std::string& user);

}  // namespace stile::server
