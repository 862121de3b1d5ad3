// relay_ports: takes connections of listeners to the same ports of 127.0.0.1.
#pragma once

#include <cstdint>
#include <vector>

#include "base/unique_fd.h"

namespace stile::run {

// In the network namespace of the calling process. Never returns; one listener for each port.
[[noreturn]] void relay_ports(const std::vector<UniqueFd>& listeners,
                              const std::vector<std::uint16_t>& ports);

}  // namespace stile::run
