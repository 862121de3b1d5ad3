// BudgetLedger: what the state file says of budgets and of counted grants before they are used.
//
// A worker can take only what the file on disk says was used already. So whenever the daemon dies,
// the file tells of at least as much as has flowed; what was on record and not used is lost to the
// agent: at most one step. A clean stop writes the exact numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "acl/allowance.h"
#include "control/live_policy.h"

namespace stile::control {

// So much is put on record at a time: a 64th of the whole, within bounds. Large enough that the
// disk does not slow down who is in a hurry, small enough that a crash costs little.
[[nodiscard]] constexpr std::int64_t bytes_step(std::uint64_t total) noexcept {
  return static_cast<std::int64_t>(
      std::clamp<std::uint64_t>(total / 64, 64 * 1024, 16 * 1024 * 1024));
}
[[nodiscard]] constexpr std::int64_t requests_step(std::uint64_t total) noexcept {
  return static_cast<std::int64_t>(std::clamp<std::uint64_t>(total / 64, 1, 1024));
}

// What was added to a state that is being written. Keeps alive what it is about.
class Booking {
 public:
  void add(std::shared_ptr<acl::Allowance> allowance) { booked_.push_back(std::move(allowance)); }
  // The state is on disk: what was booked may be taken. Or it is not: then it may not.
  void settle(bool is_on_disk) noexcept {
    for (const auto& allowance : booked_) allowance->settle(is_on_disk);
    booked_.clear();
  }

 private:
  std::vector<std::shared_ptr<acl::Allowance>> booked_;
};

// Workers ask this one when they run low. Again after every change, before workers see it.
void watch_budgets(const LivePolicy& policy, acl::Refill& refill);
// Whether somebody has asked since the last booking.
[[nodiscard]] bool is_reserve_asked_for(const LivePolicy& policy);
// To be called for each state that is written, which then has it in its numbers.
[[nodiscard]] Booking book_reserves(const LivePolicy& policy);
// When no worker runs any more: the next state has the exact numbers.
void reclaim_reserves(const LivePolicy& policy);

}  // namespace stile::control
