// fleet_replay: what a candidate of a fleet's policy would change on this host.
#pragma once

#include <string>

#include "cli/control_command.h"

namespace stile::cli {

// Judges the log and the open connections of the daemon by the candidate in this file, which
// stile-fleet wrote. Prints one line of JSON. Returns the exit status.
[[nodiscard]] int replay_candidate(const std::string& file, const ControlOptions& options);

}  // namespace stile::cli
