// run: one command with a fence around it, from the first namespace to the summary.
#pragma once

#include "run/options.h"

namespace stile::run {

// The exit status: the command's, 128+n if a signal ended it, 125 for a failure of our own (the
// command did not run then), 126 and 127 if it cannot be run or found.
[[nodiscard]] int run(const Options& options);

}  // namespace stile::run
