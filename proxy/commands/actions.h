// The table of actions: names, fields and handlers.
#pragma once

#include "control/request.h"

namespace stile::commands {

[[nodiscard]] const control::Actions& actions();

}  // namespace stile::commands
