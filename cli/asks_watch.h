// watch_asks: the asks on the whole screen, with keys.
#pragma once

#include <string>

#include "cli/control_command.h"

namespace stile::cli {

// Until the user quits or the daemon goes. Returns the exit status.
[[nodiscard]] int watch_asks(const ControlOptions& options, const std::string& agent);

}  // namespace stile::cli
