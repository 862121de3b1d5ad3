// FloodLog: refusals at accept, one audit line per agent and second however many there are.
#include "proxy/session/flood.h"

#include "proxy/base/clock.h"

namespace stile::session {
namespace {

constexpr std::chrono::milliseconds period{1000};

}  // namespace

// Everything untold, if a line is due; one worker gets it.
std::uint64_t FloodLog::take_due(acl::Account& account) const {
  const std::int64_t now = loop_.now().time_since_epoch().count();
  std::int64_t next = account.next_refusal_line_ns.load(std::memory_order_relaxed);
  const std::int64_t after = now + std::chrono::nanoseconds{period}.count();
  if (now < next || !account.next_refusal_line_ns.compare_exchange_strong(next, after)) return 0;
  return account.refusals_untold.exchange(0);
}

std::uint64_t FloodLog::count(const std::string& agent,
                              const std::shared_ptr<acl::Account>& account, acl::Reason reason) {
  account->refusals_untold.fetch_add(1);
  const std::uint64_t due = take_due(*account);
  if (due == 0) {
    entries_[agent] = {account, reason};
    if (!is_armed()) loop_.arm(*this, period);
  }
  return due;
}

void FloodLog::on_deadline() {
  for (auto it = entries_.begin(); it != entries_.end();) {
    Entry& entry = it->second;
    if (const std::uint64_t due = take_due(*entry.account); due > 0) {
      audit::Record record;
      record.event = audit::Event::deny;
      record.time_us = unix_micros();
      record.agent = it->first;
      record.verdict = acl::Verdict::deny;
      record.reason = entry.reason;
      record.status = acl::status(entry.reason);
      record.count = due;
      audit_.add(record);
    }
    it = entry.account->refusals_untold.load() == 0 ? entries_.erase(it) : std::next(it);
  }
  if (!entries_.empty()) loop_.arm(*this, period);
}

}  // namespace stile::session
