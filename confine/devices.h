// devices: a /dev with the few devices that every program expects.
#pragma once

#include "acl/result.h"

namespace stile::confine {

// At a place of the view: null, zero, full, random, urandom and tty of the host, terminals of its
// own (/dev/pts), and the terminal that is standard input, output or error as /dev/console, so that
// ttyname(3) has an answer. Other terminals of the host are out of reach.
[[nodiscard]] Result<void> make_devices(int place);

}  // namespace stile::confine
