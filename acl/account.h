// Account: what an agent uses up, counted over all workers.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace stile::acl {

// A count that runs down; negative: there is no limit.
class Allowance {
 public:
  static constexpr std::int64_t unlimited = -1;

  explicit Allowance(std::int64_t left = unlimited) noexcept : left_{left} {}
  [[nodiscard]] std::int64_t left() const noexcept { return left_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool is_limited() const noexcept { return left() >= 0; }
  [[nodiscard]] bool is_spent() const noexcept { return left() == 0; }
  void set(std::int64_t left) noexcept { left_.store(left, std::memory_order_relaxed); }

  // Takes up to `want` before the bytes flow, so that no two workers spend the same ones. What was
  // taken and not used is given back.
  [[nodiscard]] std::size_t take(std::size_t want) noexcept {
    std::int64_t left = left_.load(std::memory_order_relaxed);
    while (left >= 0) {
      const auto part = std::min(left, static_cast<std::int64_t>(want));
      if (left_.compare_exchange_weak(left, left - part, std::memory_order_relaxed)) {
        return static_cast<std::size_t>(part);
      }
    }
    return want;
  }
  void give_back(std::size_t unused) noexcept {
    std::int64_t left = left_.load(std::memory_order_relaxed);
    while (unused > 0 && left >= 0 &&
           !left_.compare_exchange_weak(left, left + static_cast<std::int64_t>(unused),
                                        std::memory_order_relaxed)) {
    }
  }

 private:
  std::atomic<std::int64_t> left_;
};

// One per (id, instance); lives as long as the agent or a connection of it.
struct Account {
  std::atomic<std::uint32_t> connections{0};
  std::atomic<std::uint32_t> dns_in_flight{0};
  std::atomic<std::int64_t> next_request_ns{0};  // for the rate limit: when the next one is due
  // Connections refused at accept that no audit line has told of, and when the next line is due.
  std::atomic<std::uint64_t> refusals_untold{0};
  std::atomic<std::int64_t> next_refusal_line_ns{0};
  Allowance bytes_up, bytes_down;
};

}  // namespace stile::acl
