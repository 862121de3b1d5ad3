// run: runs one command behind a fence, from the first namespace to the summary.
#pragma once

#include "run/options.h"

namespace stile::run {

// Returns the exit status: the command's, 128+n if a signal ended it, 125 for our own failure (the
// command did not run), 126 and 127 if it cannot be run or found.
[[nodiscard]] int run(const Options& options);

}  // namespace stile::run
