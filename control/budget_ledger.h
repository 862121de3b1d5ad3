// How far ahead of its use a budget is written down.
//
// The state file says of every budget that is being drawn on more than was used: an eighth of it
// ahead. So a crash takes at most that from the agent, and gives it nothing. When the agent has
// nothing open any more, and at a clean stop, the exact number is written.
#pragma once

#include <algorithm>
#include <cstdint>

#include "control/live_policy.h"

namespace stile::control {

// What the file should say was used of `total`, if it says `written` now.
[[nodiscard]] constexpr std::uint64_t reserve(std::uint64_t total, std::uint64_t used,
                                              std::uint64_t written, std::uint64_t least_step,
                                              bool is_active) noexcept {
  if (!is_active) return used;
  const std::uint64_t step = std::max(total / 8, least_step);
  const bool is_enough = written >= total || written >= used + step / 2;
  if (is_enough && written >= used && written <= used + step) return written;
  return std::min(total, used + step);
}

// Brings what is to be written in step with what was used. True: the state has to be saved.
[[nodiscard]] bool update_reserves(LivePolicy& policy, bool is_stopping);

}  // namespace stile::control
