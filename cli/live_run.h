// live_run: finds the `stile run` that a command addresses when there is no daemon.
#pragma once

#include <optional>
#include <string>

#include "cli/control_client.h"

namespace stile::cli {

// The run called `name`, as given with --run.
[[nodiscard]] CommandOutcome<control::ControlClient> connect_to_run(const std::string& name);

// The only run, which is named on stderr. Fails with a list if there are several; nullopt: none.
[[nodiscard]] std::optional<CommandOutcome<control::ControlClient>> connect_to_only_run();

// "--run 4242  stile run …", one line each; empty: no `stile run` of this user is running.
[[nodiscard]] std::string own_runs();

}  // namespace stile::cli
