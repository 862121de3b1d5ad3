// read_logs: the requests of several audit logs, with a word about what could not be used.
#pragma once

#include <string>
#include <vector>

#include "cli/control_client.h"
#include "cli/seen.h"

namespace stile::cli {

// Lines that are none of an audit log are told of on stderr.
[[nodiscard]] Outcome<Seen> read_logs(const std::vector<std::string>& files);

}  // namespace stile::cli
