// live_run: the `stile run` that a command is meant for when there is no daemon.
#pragma once

#include <optional>
#include <string>

#include "cli/control_client.h"

namespace stile::cli {

// The one that is called `name`, as --run has it.
[[nodiscard]] Outcome<control::Client> connect_to_run(const std::string& name);

// The only one that is there, which is told on stderr; several are a failure that lists them;
// nullopt: none.
[[nodiscard]] std::optional<Outcome<control::Client>> connect_to_only_run();

}  // namespace stile::cli
