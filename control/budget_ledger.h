// BudgetLedger: records the use of budgets and counted grants in the state file before it happens.
//
// A worker can take only amounts that the file on disk already counts as used. So if the daemon
// crashes, the file never counts less than was used. The agent loses what was on record and not
// used: at most one step. A clean stop writes the exact numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "acl/allowance.h"
#include "control/live_policy.h"

namespace stile::control {

// The amount put on record at a time: a 64th of the whole, within bounds. Large enough that the
// disk does not slow down fast transfers, small enough that a crash costs little.
[[nodiscard]] constexpr std::int64_t bytes_step(std::uint64_t total) noexcept {
  return static_cast<std::int64_t>(
      std::clamp<std::uint64_t>(total / 64, 64 * 1024, 16 * 1024 * 1024));
}
[[nodiscard]] constexpr std::int64_t requests_step(std::uint64_t total) noexcept {
  return static_cast<std::int64_t>(std::clamp<std::uint64_t>(total / 64, 1, 1024));
}

[[nodiscard]] constexpr std::int64_t tokens_step(std::uint64_t total) noexcept {
  return static_cast<std::int64_t>(std::clamp<std::uint64_t>(total / 4, 1, 131072));
}

// The amounts booked in a state that is being written. Keeps their allowances alive.
class Booking {
 public:
  void add(std::shared_ptr<acl::Allowance> allowance) { booked_.push_back(std::move(allowance)); }
  // If the state is on disk, the booked amounts may be taken; otherwise not.
  void settle(bool is_on_disk) noexcept {
    for (const auto& allowance : booked_) allowance->settle(is_on_disk);
    booked_.clear();
  }

 private:
  std::vector<std::shared_ptr<acl::Allowance>> booked_;
};

// Sets whom workers ask when they run low. Repeat it after every change, before workers see it.
void watch_budgets(const LivePolicy& policy, acl::Refill& refill);
// Whether a worker has asked since the last booking.
[[nodiscard]] bool is_reserve_asked_for(const LivePolicy& policy);
// Call it for each state that is written, before the state is made: its numbers include the
// booking.
[[nodiscard]] Booking book_reserves(const LivePolicy& policy);
// Call it when no worker runs any more: the next state has the exact numbers.
void reclaim_reserves(const LivePolicy& policy);

}  // namespace stile::control
