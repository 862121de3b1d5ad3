// FrozenRelay: a relay between two moments, so that another process can continue it without losing
// a byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/unique_fd.h"
#include "proxy/base/clock.h"
#include "proxy/net/pipe_pool.h"

namespace stile::net {

struct FrozenDirection {
  std::uint64_t bytes = 0;  // moved so far
  std::size_t debt = 0;     // read and not charged yet
  std::string unsent;       // read and not sent
  Pipe pipe;                // has no descriptors unless bytes are in it
  bool is_over_budget = false;
  bool saw_end = false;
  bool sent_end = false;
};

struct FrozenRelay {
  UniqueFd client, origin;
  FrozenDirection up, down;
  SteadyTime last_byte;
};

}  // namespace stile::net
