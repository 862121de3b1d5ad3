// FloodLog: refusals at accept, one audit line per agent and second however many there are.
#include "proxy/session/flood.h"

#include "proxy/base/clock.h"

namespace stile::session {
namespace {

constexpr std::chrono::milliseconds period{1000};

}  // namespace

std::uint64_t FloodLog::count(const std::string& agent, acl::Reason reason) {
  Entry& entry = entries_[agent];
  entry.reason = reason;
  ++entry.untold;
  if (loop_.now() < entry.next) {
    if (!is_armed()) loop_.arm(*this, period);
    return 0;
  }
  entry.next = loop_.now() + period;
  return std::exchange(entry.untold, 0);
}

void FloodLog::on_deadline() {
  bool more = false;
  for (auto it = entries_.begin(); it != entries_.end();) {
    Entry& entry = it->second;
    if (entry.untold > 0 && loop_.now() >= entry.next) {
      audit::Record record;
      record.event = audit::Event::deny;
      record.time_us = unix_micros();
      record.agent = it->first;
      record.verdict = acl::Verdict::deny;
      record.reason = entry.reason;
      record.status = acl::status(entry.reason);
      record.count = std::exchange(entry.untold, 0);
      audit_.add(record);
      entry.next = loop_.now() + period;
    }
    more = more || entry.untold > 0;
    it = entry.untold == 0 && loop_.now() >= entry.next ? entries_.erase(it) : std::next(it);
  }
  if (more) loop_.arm(*this, period);
}

}  // namespace stile::session
