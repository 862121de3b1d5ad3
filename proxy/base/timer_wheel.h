// TimerWheel: many deadlines, few of which ever fire, at constant cost each.
#pragma once

#include <array>
#include <boost/intrusive/list.hpp>
#include <chrono>
#include <cstdint>

#include "proxy/base/clock.h"

namespace stile {

// Called when its time has come. Destroying it disarms it.
class Deadline : public boost::intrusive::list_base_hook<
                     boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  Deadline() = default;
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  void disarm() noexcept { unlink(); }
  [[nodiscard]] bool is_armed() const noexcept { return is_linked(); }

 protected:
  virtual ~Deadline() = default;

 private:
  friend class TimerWheel;
  virtual void on_deadline() = 0;
  std::uint64_t tick_ = 0;
};

// A hashed wheel. Far deadlines share slots and are skipped until they are due, so an idle tunnel
// costs one check every ten seconds.
class TimerWheel {
 public:
  static constexpr std::chrono::milliseconds tick{10};
  explicit TimerWheel(SteadyTime start) noexcept : start_{start} {}

  // Fires at the first advance() at or after `when`; far ones up to half a second later, so that
  // thousands of idle tunnels wake the loop only twice a second.
  void arm(Deadline& deadline, SteadyTime when) noexcept;
  // Fires at most so many in one call: an agent can have thousands that are due at once, and others
  // are served in between.
  static constexpr std::size_t most_at_once = 64;
  void advance(SteadyTime now);
  // Time until the next slot that is not empty; -1: never; 0: some are due already. In
  // milliseconds, for epoll_wait.
  [[nodiscard]] int timeout_ms(SteadyTime now) const noexcept;

 private:
  static constexpr std::size_t slots = 1024;
  static constexpr std::uint64_t far_ticks = 200, far_grain = 50;
  using Slot = boost::intrusive::list<Deadline, boost::intrusive::constant_time_size<false>>;
  [[nodiscard]] std::uint64_t ticks_at(SteadyTime when) const noexcept;

  SteadyTime start_;
  std::uint64_t current_ = 0;  // all earlier ticks are done
  std::array<Slot, slots> wheel_;
  Slot due_;  // not fired yet
};

}  // namespace stile
