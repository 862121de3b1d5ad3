// situation: asks the daemon for the facts that advice about an agent needs.
#pragma once

#include "cli/advice.h"
#include "cli/control_client.h"

namespace stile::cli {

// What the daemon says of an agent; fails if it has none of that name.
[[nodiscard]] CommandOutcome<Situation> ask_agent(control::ControlClient& client,
                                                  const std::string& agent);

// The same with the global mode. Facts that the daemon does not provide stay empty.
[[nodiscard]] Situation ask_situation(control::ControlClient& client, const std::string& agent);

}  // namespace stile::cli
