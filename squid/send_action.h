// send_action: `-k ACTION`; sends the signal and reports the result.
#pragma once

#include "squid/command_line.h"
#include "squid/conf.h"
#include "squid/outcome_file.h"

namespace stile::squid {

// Sends the action to the running copy. Waits for the result of a reconfigure or rotate, and for
// the end of the process after an interrupt.
[[nodiscard]] SignalOutcome send_action(CommandLine::Action action, const Conf& conf);

}  // namespace stile::squid
