// event_line: one event of the audit log as a line of the live view.
#pragma once

#include <string>

#include "audit/line.h"
#include "base/terminal.h"

namespace stile::cli {

// Time (UTC), agent, event, destination, reason. On a terminal it is cut to one row.
[[nodiscard]] std::string event_line(const audit::Line& line, const Terminal& terminal);

}  // namespace stile::cli
