// Allowance: a count that runs down, shared by all workers. Nothing of it may be used before the
// record of it is safe, so that no crash makes it larger.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace stile::acl {

// Who puts more on record.
class Refill {
 public:
  // Little is left of what may be taken at once. Called by any worker; must be quick.
  virtual void ask() noexcept = 0;

 protected:
  ~Refill() = default;
};

// What is left is in two parts: `ready` is on record as used and may be taken, the rest is not. One
// thread keeps the record and moves the one to the other; workers only take and give back.
class Allowance {
 public:
  static constexpr std::int64_t unlimited = -1;

  // All of it ready; negative: there is no limit.
  explicit Allowance(std::int64_t left = unlimited) noexcept : ready_{left} {}

  [[nodiscard]] bool is_limited() const noexcept { return ready() >= 0; }
  // The rest is read first: what leaves it is ready by then, so this is never true too early.
  [[nodiscard]] bool is_spent() const noexcept {
    return rest_.load(std::memory_order_acquire) <= 0 && ready() == 0;
  }
  [[nodiscard]] std::int64_t left() const noexcept {
    return is_limited() ? std::max<std::int64_t>(balance(), 0) : unlimited;
  }
  // Of a limited one; below 0: more was used than there is by now.
  [[nodiscard]] std::int64_t balance() const noexcept {
    return rest_.load(std::memory_order_acquire) + ready();
  }
  [[nodiscard]] std::int64_t ready() const noexcept {
    return ready_.load(std::memory_order_relaxed);
  }

  // Takes up to `want` before the bytes flow, so that no two workers spend the same ones. What was
  // taken and not used is given back. 0 and not spent: more will be ready soon.
  [[nodiscard]] std::size_t take(std::size_t want) noexcept {
    std::int64_t ready = ready_.load(std::memory_order_relaxed);
    while (ready >= 0) {
      const auto part = std::min(ready, static_cast<std::int64_t>(want));
      if (ready_.compare_exchange_weak(ready, ready - part, std::memory_order_relaxed)) {
        if (ready - part < low_.load(std::memory_order_relaxed)) ask();
        return static_cast<std::size_t>(part);
      }
    }
    return want;
  }
  void give_back(std::size_t unused) noexcept { add_ready(static_cast<std::int64_t>(unused)); }
  // Something will be taken soon.
  void expect() noexcept {
    const std::int64_t now = ready();
    if (now >= 0 && now < low_.load(std::memory_order_relaxed)) ask();
  }

  // From here on: for the thread that keeps the record.
  // All of it ready: no record is kept, or there is no limit.
  void set(std::int64_t left) noexcept {
    ready_.store(left, std::memory_order_relaxed);
    rest_.store(0, std::memory_order_release);
    booked_ = 0;
  }
  // Limited, and nothing ready.
  void lock(std::int64_t left) noexcept {
    booked_ = 0;
    rest_.store(left, std::memory_order_release);
    ready_.store(0, std::memory_order_relaxed);
  }
  // There is so much more, or less, than before. What is ready goes only if the rest is too little.
  void add(std::int64_t amount) noexcept {
    std::int64_t rest = rest_.load(std::memory_order_relaxed) + amount;
    if (rest < 0) rest += take_ready(-rest);
    rest_.store(rest, std::memory_order_release);
  }
  // Asked below `low`; null: nobody is.
  void watch(Refill* refill, std::int64_t low) noexcept {
    refill_.store(refill, std::memory_order_release);
    low_.store(refill == nullptr ? 0 : low, std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_asked_for() const noexcept {
    return asked_.load(std::memory_order_relaxed);
  }
  // What was asked for until now is being looked after; true: there was something.
  [[nodiscard]] bool answer() noexcept { return asked_.exchange(false); }
  // Up to `amount` of the rest goes into the next record; it is ready once that is safe.
  [[nodiscard]] bool book(std::int64_t amount) noexcept {
    booked_ = std::clamp<std::int64_t>(rest_.load(std::memory_order_relaxed), 0, amount);
    return booked_ > 0;
  }
  // What the record does not say was used.
  [[nodiscard]] std::int64_t unrecorded() const noexcept {
    return rest_.load(std::memory_order_relaxed) - booked_;
  }
  // The record is safe, or was not made.
  void settle(bool is_safe) noexcept {
    const std::int64_t rest = rest_.load(std::memory_order_relaxed);
    const std::int64_t amount = is_safe ? std::clamp<std::int64_t>(rest, 0, booked_) : 0;
    add_ready(amount);
    rest_.store(rest - amount, std::memory_order_release);
    booked_ = 0;
  }
  // Nobody takes any more: what is ready or booked was not used.
  void reclaim() noexcept {
    if (is_limited()) rest_.fetch_add(take_ready(ready()), std::memory_order_release);
    booked_ = 0;
  }

 private:
  void ask() noexcept {
    if (rest_.load(std::memory_order_relaxed) <= 0) return;
    if (asked_.load(std::memory_order_relaxed) || asked_.exchange(true)) return;
    if (Refill* refill = refill_.load(std::memory_order_acquire)) refill->ask();
  }
  void add_ready(std::int64_t amount) noexcept {
    std::int64_t ready = ready_.load(std::memory_order_relaxed);
    while (amount > 0 && ready >= 0 &&
           !ready_.compare_exchange_weak(ready, ready + amount, std::memory_order_relaxed)) {
    }
  }
  [[nodiscard]] std::int64_t take_ready(std::int64_t amount) noexcept {
    std::int64_t ready = ready_.load(std::memory_order_relaxed);
    while (ready > 0) {
      const std::int64_t part = std::min(ready, amount);
      if (ready_.compare_exchange_weak(ready, ready - part, std::memory_order_relaxed)) {
        return part;
      }
    }
    return 0;
  }

  std::atomic<std::int64_t> ready_;
  std::atomic<std::int64_t> rest_{0};
  std::atomic<std::int64_t> low_{0};
  std::atomic<bool> asked_{false};
  std::atomic<Refill*> refill_{nullptr};
  std::int64_t booked_ = 0;  // of the rest
};

}  // namespace stile::acl
