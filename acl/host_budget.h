// HostBudget: how many requests and tokens an agent may use on one host, and what it has used.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "acl/allowance.h"
#include "acl/minute_count.h"
#include "base/unix_time.h"

namespace stile::acl {

// What was used, shared by all workers. The allowances are on record before they are used.
struct HostUsage {
  Allowance requests, tokens;
  MinuteCount minute;
  // Reported by answers beyond what was reserved, and not taken from `tokens` yet.
  std::atomic<std::int64_t> owed_tokens{0};

  [[nodiscard]] bool has_no_tokens() const noexcept {
    return tokens.is_limited() && tokens.left() <= owed_tokens.load(std::memory_order_relaxed);
  }
  void pay_debt() noexcept;
  // On the thread that keeps the record: takes what is owed from the part that is not on record.
  void record_debt() noexcept;
  // The debt for a saved state, which counts it as used.
  [[nodiscard]] std::int64_t save_debt() noexcept;
  // The debt that the last saved state does not have: another process, which has read that state,
  // pays it from now on. Negative: so much of the saved debt is paid.
  [[nodiscard]] std::int64_t take_debt() noexcept;

 private:
  std::int64_t saved_debt_ = 0;  // of the thread that keeps the record
  // Counts this much as paid. Returns what was too much: another thread may have paid as well.
  [[nodiscard]] std::int64_t cancel_debt(std::int64_t paid) noexcept;
};

struct HostBudget {
  std::string host;  // canonical
  std::optional<std::uint64_t> requests_per_minute, max_requests, tokens;
  std::shared_ptr<HostUsage> usage;  // set in a snapshot in force
};

// Reserved for a request until its answer says what it used. Bounds how many requests can run at
// the same time before the first of them has reported.
[[nodiscard]] std::int64_t tokens_reserved(std::uint64_t total) noexcept;

// Which part of the budget is used up: a constant text, for people; empty: none.
inline constexpr std::string_view minute_fault =
    "its requests to this host are used up for this minute";
[[nodiscard]] std::string_view fault_of(const HostBudget& budget, UnixMicros now) noexcept;

// What one request has taken. Gives it back unless the request went on.
class HostCharge {
 public:
  enum class Outcome : std::uint8_t {
    taken,
    spent,
    not_ready,  // the rest of the budget is not on record yet
  };

  HostCharge() = default;
  ~HostCharge() { give_back(); }
  HostCharge(const HostCharge&) = delete;
  HostCharge& operator=(const HostCharge&) = delete;

  // Takes one request, and tokens for it, or nothing. A second call for the same budget has no
  // effect.
  [[nodiscard]] Outcome take(const HostBudget& budget, UnixMicros now) noexcept;
  [[nodiscard]] bool is_on(const HostBudget& budget) const noexcept {
    return usage_ != nullptr && usage_ == budget.usage;
  }
  [[nodiscard]] const HostUsage* usage() const noexcept { return usage_.get(); }
  [[nodiscard]] bool counts_tokens() const noexcept { return reserved_ > 0; }
  // The request went to its origin: it stays counted.
  void keep() noexcept { is_kept_ = true; }
  // Replaces the reserve by what was used. Once.
  void settle(std::uint64_t tokens) noexcept;
  // The same, if that is only known to be at least so much: the reserve is not given back.
  void settle_at_least(std::uint64_t tokens) noexcept;

 private:
  void give_back() noexcept;

  std::shared_ptr<HostUsage> usage_;
  std::int64_t reserved_ = 0;
  std::optional<UnixMicros> minute_;  // when the request was counted there
  bool has_request_ = false, is_kept_ = false;
};

}  // namespace stile::acl
