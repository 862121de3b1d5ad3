// situation: asks the daemon for the facts that advice about an agent needs.
#pragma once

#include "cli/advice.h"
#include "cli/control_client.h"

namespace stile::cli {

// Facts that the daemon does not provide stay empty.
[[nodiscard]] Situation ask_situation(control::Client& client, const std::string& agent);

}  // namespace stile::cli
