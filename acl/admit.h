// admit: whether one more connection may be accepted. Runs before any byte of it is read.
#pragma once

#include <cstdint>
#include <limits>

#include "acl/decision.h"

namespace stile::acl {

struct Connections {
  std::uint32_t open = 0;
  std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
  [[nodiscard]] bool is_full() const noexcept { return open >= most; }
};

// `all` counts the whole daemon, `own` the agent, or all sources without an agent together.
[[nodiscard]] inline Reason admit(const Connections& all, const Connections& own) noexcept {
  if (all.is_full()) return Reason::overloaded;
  return own.is_full() ? Reason::too_many_connections : Reason::none;
}

}  // namespace stile::acl
