// HostBudget: counts requests and tokens of one agent on one host.
#include "acl/host_budget.h"

#include <algorithm>
#include <utility>

namespace stile::acl {
namespace {

constexpr std::int64_t most_reserved = 32768;
// More than any answer reports; sums stay far from the end of the type.
constexpr std::uint64_t most_reported = std::uint64_t{1} << 40U;

}  // namespace

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
  saved_debt_ -= std::min(saved_debt_, paid);
}

std::int64_t HostUsage::save_debt() noexcept {
  saved_debt_ = std::max<std::int64_t>(owed_tokens.load(std::memory_order_relaxed), 0);
  return saved_debt_;
}

std::int64_t HostUsage::take_debt() noexcept {
  const std::int64_t owed = std::max<std::int64_t>(owed_tokens.load(std::memory_order_relaxed), 0);
  return owed - cancel_debt(owed) - std::exchange(saved_debt_, 0);
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

void HostCharge::settle_at_least(std::uint64_t tokens) noexcept {
  settle(std::max(tokens, static_cast<std::uint64_t>(reserved_)));
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
