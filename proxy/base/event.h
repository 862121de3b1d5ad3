// Event: one coroutine waits until somebody on the same loop says so.
#pragma once

#include <coroutine>
#include <utility>

#include "proxy/base/loop.h"

namespace stile {

class Event {
 public:
  explicit Event(Loop& loop) noexcept : loop_{loop} {}
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  // The waiter goes on later in this turn, never inside this call.
  void fire() {
    fired_ = true;
    if (waiter_) loop_.schedule(std::exchange(waiter_, nullptr));
  }
  [[nodiscard]] bool has_fired() const noexcept { return fired_; }
  void reset() noexcept { fired_ = false; }

  [[nodiscard]] bool await_ready() const noexcept { return fired_; }
  void await_suspend(std::coroutine_handle<> waiter) noexcept { waiter_ = waiter; }
  void await_resume() const noexcept {}

 private:
  Loop& loop_;
  std::coroutine_handle<> waiter_;
  bool fired_ = false;
};

}  // namespace stile
