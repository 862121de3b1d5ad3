// situation: asks the daemon what advice about an agent has to know.
#pragma once

#include "cli/advice.h"
#include "cli/control_client.h"

namespace stile::cli {

// What cannot be asked stays unknown.
[[nodiscard]] Situation ask_situation(control::Client& client, const std::string& agent);

}  // namespace stile::cli
