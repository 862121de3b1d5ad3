// devices: a /dev with the few devices that every program expects.
#pragma once

#include "base/result.h"

namespace stile::confine {

// At a path of the view: null, zero, full, random, urandom and tty of the host, a separate
// /dev/pts, and the terminal on standard input, output or error as /dev/console, so that ttyname(3)
// works. Other terminals of the host are not reachable.
[[nodiscard]] Result<void> make_devices(int place);

}  // namespace stile::confine
