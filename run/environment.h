// environment: the variables of the command. Pure.
#pragma once

#include <string>
#include <vector>

#include "run/identity.h"

namespace stile::run {

// Those given, with the proxy's in place of any of that name, and without the ones that lead to
// sockets outside, except where the socket is exposed.
[[nodiscard]] std::vector<std::string> command_environment(const std::vector<std::string>& given,
                                                           const std::vector<std::string>& exposed,
                                                           const Identity& identity);

}  // namespace stile::run
