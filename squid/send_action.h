// send_action: `-k ACTION`, from a signal to what came of it.
#pragma once

#include "squid/command_line.h"
#include "squid/conf.h"
#include "squid/outcome_file.h"

namespace stile::squid {

// Sends the action to the running copy. Waits for the outcome of a reconfigure or rotate, and for
// the end after an interrupt.
[[nodiscard]] SignalOutcome send_action(CommandLine::Action action, const Conf& conf);

}  // namespace stile::squid
