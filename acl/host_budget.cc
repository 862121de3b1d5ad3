// HostBudget: counts requests and tokens of one agent on one host.
#include "acl/host_budget.h"

#include <algorithm>

namespace stile::acl {
namespace {

constexpr std::int64_t micros = 1'000'000;
constexpr std::int64_t most_reserved = 32768;
// More than any answer reports; sums stay far from the end of the type.
constexpr std::uint64_t most_reported = std::uint64_t{1} << 40U;

struct Minute {
  std::int64_t start = 0;
  std::uint64_t count = 0;
};

constexpr std::uint64_t low_half = 0xffffffff;

Minute unpack(std::uint64_t state) noexcept {
  return {static_cast<std::int64_t>(state >> 32U), state & low_half};
}

std::uint64_t pack(const Minute& minute) noexcept {
  return static_cast<std::uint64_t>(minute.start) << 32U | minute.count;
}

// The minute that counts now. If the clock was set back, the count stays and its minute begins
// again.
Minute current(std::uint64_t state, UnixMicros now) noexcept {
  const std::int64_t second = std::clamp<std::int64_t>(now / micros, 0, low_half);
  Minute minute = unpack(state);
  if (second - minute.start >= MinuteCount::seconds) return {second, 0};
  minute.start = std::min(minute.start, second);
  return minute;
}

}  // namespace

bool MinuteCount::take(UnixMicros now, std::uint64_t most) noexcept {
  std::uint64_t state = state_.load(std::memory_order_relaxed);
  for (;;) {
    Minute minute = current(state, now);
    if (minute.count >= std::min(most, low_half)) return false;
    ++minute.count;
    if (state_.compare_exchange_weak(state, pack(minute), std::memory_order_relaxed)) return true;
  }
}

void MinuteCount::give_back(UnixMicros taken) noexcept {
  std::uint64_t state = state_.load(std::memory_order_relaxed);
  for (;;) {
    Minute minute = unpack(state);
    const std::int64_t age = taken / micros - minute.start;
    if (minute.count == 0 || age < 0 || age >= seconds) return;
    --minute.count;
    if (state_.compare_exchange_weak(state, pack(minute), std::memory_order_relaxed)) return;
  }
}

std::uint64_t MinuteCount::used(UnixMicros now) const noexcept {
  return current(state_.load(std::memory_order_relaxed), now).count;
}

std::int64_t MinuteCount::seconds_left(UnixMicros now) const noexcept {
  const Minute minute = current(state_.load(std::memory_order_relaxed), now);
  return std::clamp<std::int64_t>(minute.start + seconds - now / micros, 1, seconds);
}

MinuteCount::Saved MinuteCount::saved() const noexcept {
  const Minute minute = unpack(state_.load(std::memory_order_relaxed));
  return {static_cast<std::uint64_t>(minute.start), minute.count};
}

void MinuteCount::restore(const Saved& saved) noexcept {
  const auto start = static_cast<std::int64_t>(std::min(saved.start, low_half));
  state_.store(pack({start, std::min(saved.count, low_half)}), std::memory_order_relaxed);
}

void HostUsage::pay_debt() noexcept {
  std::int64_t owed = owed_tokens.load(std::memory_order_relaxed);
  while (owed > 0) {
    const auto paid = static_cast<std::int64_t>(tokens.take(static_cast<std::size_t>(owed)));
    if (paid == 0) return;
    tokens.give_back(static_cast<std::size_t>(cancel_debt(paid)));
    owed = owed_tokens.load(std::memory_order_relaxed);
  }
}

void HostUsage::record_debt() noexcept {
  const std::int64_t owed = owed_tokens.load(std::memory_order_relaxed);
  const std::int64_t paid = std::min(owed, tokens.unrecorded());
  if (paid <= 0) return;
  tokens.add(-paid);
  tokens.add(cancel_debt(paid));
}

std::int64_t HostUsage::take_debt() noexcept {
  const std::int64_t owed = std::max<std::int64_t>(owed_tokens.load(std::memory_order_relaxed), 0);
  return owed - cancel_debt(owed);
}

std::int64_t HostUsage::cancel_debt(std::int64_t paid) noexcept {
  const std::int64_t before = owed_tokens.fetch_sub(paid, std::memory_order_relaxed);
  if (before >= paid) return 0;
  const std::int64_t extra = paid - std::max<std::int64_t>(before, 0);
  owed_tokens.fetch_add(extra, std::memory_order_relaxed);
  return extra;
}

std::int64_t tokens_reserved(std::uint64_t total) noexcept {
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(total / 16), 1, most_reserved);
}

std::string_view fault_of(const HostBudget& budget, UnixMicros now) noexcept {
  const HostUsage* usage = budget.usage.get();
  if (usage == nullptr) return "its budget for this host is not in force yet";
  if (budget.max_requests && usage->requests.is_spent()) {
    return "its requests to this host are used up";
  }
  if (budget.tokens && usage->has_no_tokens()) return "its tokens on this host are used up";
  if (budget.requests_per_minute && usage->minute.used(now) >= *budget.requests_per_minute) {
    return minute_fault;
  }
  return {};
}

HostCharge::Outcome HostCharge::take(const HostBudget& budget, UnixMicros now) noexcept {
  if (is_on(budget)) return Outcome::taken;
  give_back();
  if (!fault_of(budget, now).empty()) return Outcome::spent;
  HostUsage& usage = *budget.usage;
  std::int64_t reserved = 0;
  if (budget.tokens) {
    usage.pay_debt();
    if (usage.owed_tokens.load(std::memory_order_relaxed) > 0) return Outcome::not_ready;
    reserved = static_cast<std::int64_t>(
        usage.tokens.take(static_cast<std::size_t>(tokens_reserved(*budget.tokens))));
    if (reserved == 0) return usage.tokens.is_spent() ? Outcome::spent : Outcome::not_ready;
  }
  usage_ = budget.usage;
  reserved_ = reserved;
  if (budget.max_requests) {
    if (usage.requests.take(1) == 0) {
      const bool is_spent = usage.requests.is_spent();
      give_back();
      return is_spent ? Outcome::spent : Outcome::not_ready;
    }
    has_request_ = true;
  }
  if (budget.requests_per_minute) {
    if (!usage.minute.take(now, *budget.requests_per_minute)) {
      give_back();
      return Outcome::spent;
    }
    minute_ = now;
  }
  return Outcome::taken;
}

void HostCharge::settle(std::uint64_t tokens) noexcept {
  if (reserved_ == 0) return;
  const auto used = static_cast<std::int64_t>(std::min(tokens, most_reported));
  if (used < reserved_) {
    usage_->tokens.give_back(static_cast<std::size_t>(reserved_ - used));
  } else if (used > reserved_) {
    usage_->owed_tokens.fetch_add(used - reserved_, std::memory_order_relaxed);
    usage_->pay_debt();
  }
  reserved_ = 0;
}

void HostCharge::give_back() noexcept {
  const std::shared_ptr<HostUsage> usage = std::move(usage_);
  if (usage == nullptr || is_kept_) return;
  if (has_request_) usage->requests.give_back(1);
  if (reserved_ > 0) usage->tokens.give_back(static_cast<std::size_t>(reserved_));
  if (minute_) usage->minute.give_back(*minute_);
  has_request_ = false;
  reserved_ = 0;
  minute_.reset();
}

}  // namespace stile::acl
