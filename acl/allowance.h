// Allowance: a counter that runs down, shared by all workers. An amount can be used only after it
// is saved as used, so that a crash never increases what is left.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace stile::acl {

// Called when an allowance runs low, to put more on record.
class Refill {
 public:
  // Only a little is ready. Called by any worker; must be quick.
  virtual void ask() noexcept = 0;

 protected:
  ~Refill() = default;
};

// The remaining amount has two parts: `ready` is already on record as used and can be taken; `rest`
// is not on record yet. One thread keeps the record and moves amounts from `rest` to `ready`.
// Workers only take and give back.
class Allowance {
 public:
  static constexpr std::int64_t unlimited = -1;

  // Everything is ready; a negative value means no limit.
  explicit Allowance(std::int64_t left = unlimited) noexcept : ready_{left} {}

  [[nodiscard]] bool is_limited() const noexcept { return ready() >= 0; }
  // Reads `rest` first: an amount is added to `ready` before it leaves `rest`, so this is never
  // true too early.
  [[nodiscard]] bool is_spent() const noexcept {
    return rest_.load(std::memory_order_acquire) <= 0 && ready() == 0;
  }
  [[nodiscard]] std::int64_t left() const noexcept {
    return is_limited() ? std::max<std::int64_t>(balance(), 0) : unlimited;
  }
  // For a limited allowance. Negative: the limit was lowered below what is already used.
  [[nodiscard]] std::int64_t balance() const noexcept {
    return rest_.load(std::memory_order_acquire) + ready();
  }
  [[nodiscard]] std::int64_t ready() const noexcept {
    return ready_.load(std::memory_order_relaxed);
  }

  // Takes up to `want` before the bytes flow, so that two workers never spend the same bytes. The
  // caller gives back what it did not use. If this returns 0 and the allowance is not spent, more
  // will be ready soon.
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
  // Announces that a worker will take something soon.
  void expect() noexcept {
    const std::int64_t now = ready();
    if (now >= 0 && now < low_.load(std::memory_order_relaxed)) ask();
  }

  // The functions below are for the thread that keeps the record.
  //
  // Makes everything ready: no record is kept, or there is no limit.
  void set(std::int64_t left) noexcept {
    ready_.store(left, std::memory_order_relaxed);
    rest_.store(0, std::memory_order_release);
    booked_ = 0;
  }
  // Limited, with nothing ready.
  void lock(std::int64_t left) noexcept {
    booked_ = 0;
    rest_.store(left, std::memory_order_release);
    ready_.store(0, std::memory_order_relaxed);
  }
  // Changes the limit by this amount. Reduces `ready` only if `rest` is too small.
  void add(std::int64_t amount) noexcept {
    std::int64_t rest = rest_.load(std::memory_order_relaxed) + amount;
    if (rest < 0) rest += take_ready(-rest);
    rest_.store(rest, std::memory_order_release);
  }
  // Sets who is asked when `ready` falls below `low`; null: none.
  void watch(Refill* refill, std::int64_t low) noexcept {
    refill_.store(refill, std::memory_order_release);
    low_.store(refill == nullptr ? 0 : low, std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_asked_for() const noexcept {
    return asked_.load(std::memory_order_relaxed);
  }
  // Clears the pending request for more; true: there was one.
  [[nodiscard]] bool answer() noexcept { return asked_.exchange(false); }
  // Puts up to `amount` of the rest into the next record; it is ready once that record is safe.
  [[nodiscard]] bool book(std::int64_t amount) noexcept {
    booked_ = std::clamp<std::int64_t>(rest_.load(std::memory_order_relaxed), 0, amount);
    return booked_ > 0;
  }
  // The amount that the record does not count as used.
  [[nodiscard]] std::int64_t unrecorded() const noexcept {
    return rest_.load(std::memory_order_relaxed) - booked_;
  }
  // Called when the record is safe, or when writing it failed.
  void settle(bool is_safe) noexcept {
    const std::int64_t rest = rest_.load(std::memory_order_relaxed);
    const std::int64_t amount = is_safe ? std::clamp<std::int64_t>(rest, 0, booked_) : 0;
    add_ready(amount);
    rest_.store(rest - amount, std::memory_order_release);
    booked_ = 0;
  }
  // Returns the unused ready and booked amounts to the rest; the number is what was ready. Nothing
  // stays ready if no worker runs any more.
  std::int64_t reclaim() noexcept {
    booked_ = 0;
    if (!is_limited()) return 0;
    const std::int64_t amount = take_ready(ready());
    rest_.fetch_add(amount, std::memory_order_release);
    return amount;
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
  std::int64_t booked_ = 0;  // part of the rest
};

}  // namespace stile::acl
