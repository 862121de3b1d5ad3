// TimerWheel: many deadlines, few of which ever fire, at constant cost each.
#include "proxy/base/timer_wheel.h"

#include <algorithm>
#include <exception>

#include "proxy/base/log.h"

namespace stile {

std::uint64_t TimerWheel::ticks_at(SteadyTime when) const noexcept {
  if (when <= start_) return 0;
  return static_cast<std::uint64_t>((when - start_) / tick);
}

void TimerWheel::arm(Deadline& deadline, SteadyTime when) noexcept {
  deadline.unlink();
  std::uint64_t target = std::max(ticks_at(when) + 1, current_);
  if (target > current_ + far_ticks) target += far_grain - target % far_grain;
  deadline.tick_ = target;
  wheel_[target % slots].push_back(deadline);
}

void TimerWheel::advance(SteadyTime now) {
  const std::uint64_t end = ticks_at(now) + 1;
  // After a long sleep, one pass over all slots finds every deadline that is due.
  const std::uint64_t first = end - current_ > slots ? end - slots : current_;
  for (std::uint64_t t = first; t < end; ++t) {
    Slot& slot = wheel_[t % slots];
    for (auto it = slot.begin(); it != slot.end();) {
      Deadline& deadline = *it++;
      if (deadline.tick_ >= end) continue;
      deadline.unlink();
      due_.push_back(deadline);
    }
  }
  current_ = std::max(current_, end);
  // Out of the wheel before the first call: a callback may arm, disarm or destroy any deadline.
  for (std::size_t left = most_at_once; left > 0 && !due_.empty(); --left) {
    Deadline& deadline = due_.front();
    due_.pop_front();
    try {
      deadline.on_deadline();
    } catch (const std::exception& problem) {
      // Out of memory; the others in the list are still called.
      static log::Throttle out_of_memory;
      out_of_memory.warning("a deadline was missed: ", problem.what());
    }
  }
}

int TimerWheel::timeout_ms(SteadyTime now) const noexcept {
  if (!due_.empty()) return 0;
  for (std::uint64_t t = current_; t < current_ + slots; ++t) {
    if (wheel_[t % slots].empty()) continue;
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(start_ + t * tick - now);
    return static_cast<int>(std::max<std::int64_t>(0, wait.count()));
  }
  return -1;
}

}  // namespace stile
