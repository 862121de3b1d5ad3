// Task: a coroutine that runs when awaited; Detached: one that runs at once and owns itself.
//
// Asio's awaitable costs a good part of a CONNECT and keeps its frames; these do only what a
// session needs: start, wait for one thing, continue. Everything runs on the thread of one Loop.
// g++ 12 miscompiles `if (!co_await f(x)) {…}` (the awaited coroutine is destroyed before it runs):
// a co_await is its own statement or initialises a variable, never part of a condition or of
// another call's arguments. A test checks this rule on the sources.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

#include "proxy/base/frame_pool.h"

namespace stile {

template <class T>
class Task;

namespace detail {

struct FinalAwaiter {
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> done) noexcept {
    return done.promise().continuation;
  }
  void await_resume() const noexcept {}
};

struct PromiseBase : Pooled {
  std::coroutine_handle<> continuation = std::noop_coroutine();
  std::exception_ptr exception;
  [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
  [[nodiscard]] FinalAwaiter final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { exception = std::current_exception(); }
};

template <class T>
struct Promise : PromiseBase {
  std::optional<T> value;
  Task<T> get_return_object() noexcept;
  void return_value(T result) { value.emplace(std::move(result)); }
  T take() {
    if (exception) std::rethrow_exception(exception);
    return std::move(*value);
  }
};

template <>
struct Promise<void> : PromiseBase {
  Task<void> get_return_object() noexcept;
  void return_void() const noexcept {}
  void take() const {
    if (exception) std::rethrow_exception(exception);
  }
};

}  // namespace detail

template <class T = void>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::Promise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  explicit Task(Handle handle) noexcept : handle_{handle} {}
  Task(Task&& other) noexcept : handle_{std::exchange(other.handle_, nullptr)} {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
    handle_.promise().continuation = caller;
    return handle_;
  }
  T await_resume() { return handle_.promise().take(); }

 private:
  Handle handle_;
};

template <class T>
Task<T> detail::Promise<T>::get_return_object() noexcept {
  return Task<T>{std::coroutine_handle<Promise>::from_promise(*this)};
}
inline Task<void> detail::Promise<void>::get_return_object() noexcept {
  return Task<void>{std::coroutine_handle<Promise>::from_promise(*this)};
}

// The frame frees itself at the end. Its body must catch: an escaping exception ends the process,
// since no code is left to close what the coroutine owned.
struct Detached {
  struct promise_type : Pooled {
    Detached get_return_object() const noexcept { return {}; }
    [[nodiscard]] std::suspend_never initial_suspend() const noexcept { return {}; }
    [[nodiscard]] std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }
  };
};

}  // namespace stile
