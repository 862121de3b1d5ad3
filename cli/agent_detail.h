// agent_detail: all about one agent, for people.
#pragma once

#include <string>

#include "cli/json.h"
#include "cli/terminal.h"

namespace stile::cli {

[[nodiscard]] Colour mode_colour(const std::string& mode);

// The daemon's answer to `agent`; the exit status.
[[nodiscard]] int print_agent(const Json& answer, const Terminal& terminal);

}  // namespace stile::cli
