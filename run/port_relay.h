// relay_ports: takes connections of listeners to the same ports of 127.0.0.1.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/unique_fd.h"

namespace stile::run {

struct RelayLimits {
  std::size_t connections = 256;                           // over all ports; a further one waits
  std::chrono::milliseconds idle = std::chrono::hours{1};  // in both directions, as a tunnel's
  std::chrono::milliseconds gives_way = std::chrono::minutes{1};  // to another, if idle so long
};

// In the network namespace of the calling process. Never returns; one listener for each port.
[[noreturn]] void relay_ports(const std::vector<UniqueFd>& listeners,
                              const std::vector<std::uint16_t>& ports,
                              const RelayLimits& limits = {});

}  // namespace stile::run
