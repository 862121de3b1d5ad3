// AuditQueue: gathers the audit lines of one turn of the loop and writes them with one call.
#include "proxy/session/audit_queue.h"

#include <utility>

namespace stile::session {

bool AuditQueue::flush() {
  if (batch_.empty() && waiters_.empty()) return false;
  std::swap(batch_, next_);  // lines that the waiters add belong to the next write
  resuming_.swap(waiters_);
  const std::size_t in_log = next_.empty() ? 0 : log_.write(next_);
  for (const Waiter& waiter : resuming_) {
    waiter.written->written_ = waiter.needed <= in_log;
    loop_.serve(waiter.written->resumption_);
  }
  resuming_.clear();
  return !batch_.empty() || !waiters_.empty();
}

}  // namespace stile::session
