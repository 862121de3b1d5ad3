// Event: one coroutine waits until other code on the same loop fires it.
#pragma once

#include <cassert>
#include <coroutine>
#include <utility>

#include "proxy/base/loop.h"

namespace stile {

// Must outlive the wait. The time of the resumed coroutine counts for the agent that waited.
class Event final : private Work {
 public:
  explicit Event(Loop& loop) noexcept : loop_{loop} {}

  // Resumes the waiter later, never inside this call.
  void fire() noexcept {
    fired_ = true;
    if (waiter_) loop_.schedule(*this);
  }
  [[nodiscard]] bool has_fired() const noexcept { return fired_; }
  void reset() noexcept { fired_ = false; }

  [[nodiscard]] bool await_ready() const noexcept { return fired_; }
  void await_suspend(std::coroutine_handle<> waiter) noexcept {
    assert(!waiter_ && "one waiter per event");
    charge_to(loop_.current_share());
    waiter_ = waiter;
  }
  void await_resume() const noexcept {}

 private:
  void run() override { std::exchange(waiter_, nullptr).resume(); }

  Loop& loop_;
  std::coroutine_handle<> waiter_;
  bool fired_ = false;
};

}  // namespace stile
