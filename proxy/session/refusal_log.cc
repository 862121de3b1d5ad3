// RefusalLog: the audit lines of refusals, bounded for each agent.
#include "proxy/session/refusal_log.h"

#include <algorithm>
#include <utility>

#include "base/unix_time.h"
#include "proxy/base/clock.h"

namespace stile::session {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
// `seq`, `chain` and `prev`, which the log adds to each line.
constexpr std::size_t link_bytes = 110;

// Lines are due at intervals by their cost; an account that has written less than its share may be
// ahead by the burst. True: a line may be written now.
bool has_room(const acl::Account& account, std::int64_t now) {
  return account.next_refusal_line_ns.load(std::memory_order_relaxed) <= now;
}

void charge(acl::Account& account, std::int64_t now, std::size_t bytes) {
  const std::int64_t cost =
      std::max(second_ns / RefusalLog::lines_per_second,
               static_cast<std::int64_t>(bytes) * second_ns / RefusalLog::bytes_per_second);
  std::int64_t due = account.next_refusal_line_ns.load(std::memory_order_relaxed);
  std::int64_t from = 0;
  do {
    from = std::max(due, now - RefusalLog::burst_seconds * second_ns);
  } while (!account.next_refusal_line_ns.compare_exchange_weak(due, from + cost,
                                                               std::memory_order_relaxed));
}

audit::Record summary(const std::string& agent, acl::Reason reason, std::uint64_t count) {
  audit::Record record;
  record.event = audit::Event::deny;
  record.time_us = unix_micros();
  record.agent = agent;
  record.verdict = acl::Verdict::deny;
  record.reason = reason;
  record.status = acl::status(reason);
  record.count = count;
  return record;
}

}  // namespace

AuditQueue::Written RefusalLog::write(AuditQueue& queue, audit::Record record,
                                      const std::shared_ptr<acl::Account>& account,
                                      SteadyTime now) {
  const std::int64_t time = now.time_since_epoch().count();
  if (!has_room(*account, time)) {
    count(std::string{record.agent}, account, record.reason);
    return queue.without_line();
  }
  record.method = record.method.substr(0, max_method_bytes);
  record.path = record.path.substr(0, max_path_bytes);
  const std::size_t before = queue.bytes();
  auto written = queue.write(record);
  charge(*account, time, queue.bytes() - before + link_bytes);
  return written;
}

// Add the number first: the reader takes the account off the list before it takes the numbers.
void RefusalLog::count(const std::string& agent, const std::shared_ptr<acl::Account>& account,
                       acl::Reason reason) {
  account->refusals_counted[static_cast<std::size_t>(reason)].fetch_add(1);
  if (account->has_refusals_counted.exchange(true)) return;
  try {
    const std::lock_guard lock{mutex_};
    counted_.push_back({agent, account});
  } catch (...) {
    account->has_refusals_counted = false;  // no memory: the next refusal puts it on the list
    throw;
  }
}

void RefusalLog::write_counted(audit::Log& log, bool last) {
  if (!log.healthy() && !last) return;
  std::vector<Counted> taken;
  {
    const std::lock_guard lock{mutex_};
    taken.swap(counted_);
  }
  if (taken.empty()) return;
  audit::Batch batch = log.new_batch();
  for (const Counted& one : taken) {
    one.account->has_refusals_counted = false;
    for (std::size_t i = 0; i < acl::reason_count; ++i) {
      const std::uint64_t count = one.account->refusals_counted[i].exchange(0);
      if (count > 0) batch.add(summary(one.agent, static_cast<acl::Reason>(i), count));
    }
  }
  if (!batch.empty()) static_cast<void>(log.write(batch));
}

}  // namespace stile::session
