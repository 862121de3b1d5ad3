// Steps: a long computation that stops after each part of its work, so that others get their turn.
//
// A coroutine that owns its frame. One may await another: then go_on() of the outer one goes on
// with the inner one. As for Task, a co_await is a statement of its own.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

namespace stile::scan {

class [[nodiscard]] Steps {
 public:
  struct promise_type;
  using Handle = std::coroutine_handle<promise_type>;

  explicit Steps(Handle handle) noexcept : handle_{handle} {}
  Steps(Steps&& other) noexcept : handle_{std::exchange(other.handle_, nullptr)} {}
  Steps& operator=(Steps&&) = delete;
  ~Steps() {
    if (handle_) handle_.destroy();
  }

  // Goes on until the next stop. False: it has ended. Throws what the computation throws.
  [[nodiscard]] bool go_on();
  void finish() {
    while (go_on()) {
    }
  }

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  [[nodiscard]] Handle await_suspend(Handle outer) const noexcept;
  void await_resume() const;

 private:
  Handle handle_;
};

struct Steps::promise_type {
  struct Return {
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(Handle ended) const noexcept {
      promise_type& promise = ended.promise();
      if (!promise.outer) return std::noop_coroutine();
      promise.outermost->innermost = promise.outer;
      return promise.outer;
    }
    void await_resume() const noexcept {}
  };

  Steps get_return_object() noexcept {
    innermost = Handle::from_promise(*this);
    return Steps{innermost};
  }
  [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
  [[nodiscard]] Return final_suspend() const noexcept { return {}; }
  void return_void() const noexcept {}
  void unhandled_exception() noexcept { exception = std::current_exception(); }

  Handle outer;                    // the one that awaits this one
  promise_type* outermost = this;  // the one that go_on() was called on
  Handle innermost;                // of the outermost: the one that goes on next
  std::exception_ptr exception;
};

inline bool Steps::go_on() {
  handle_.promise().innermost.resume();
  if (!handle_.done()) return true;
  await_resume();
  return false;
}

inline Steps::Handle Steps::await_suspend(Handle outer) const noexcept {
  promise_type& promise = handle_.promise();
  promise.outer = outer;
  promise.outermost = outer.promise().outermost;
  promise.outermost->innermost = handle_;
  return handle_;
}

inline void Steps::await_resume() const {
  if (handle_.promise().exception) std::rethrow_exception(handle_.promise().exception);
}

}  // namespace stile::scan
