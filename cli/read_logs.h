// read_logs: reads the requests of several audit logs and reports invalid lines.
#pragma once

#include <string>
#include <vector>

#include "cli/control_client.h"
#include "cli/seen.h"

namespace stile::cli {

// Reports lines that are not audit lines on stderr.
[[nodiscard]] CommandOutcome<Seen> read_logs(const std::vector<std::string>& files);

}  // namespace stile::cli
