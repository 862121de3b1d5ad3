// RefusalLog: the audit lines of refusals, bounded for each agent.
//
// An agent may be refused a thousand times a second, and chooses much of what a line says. So each
// account has a rate of lines and bytes; beyond it refusals are counted in memory, and once a
// second one line per agent and reason has their number in `count`.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "acl/account.h"
#include "acl/decision.h"
#include "audit/log.h"
#include "proxy/base/timer_wheel.h"
#include "proxy/session/audit_queue.h"

namespace stile::session {

// Shared by all workers, so that the bound holds for all of them together.
class RefusalLog {
 public:
  // What one account may write of refusals in the long run, and after a quiet time at once: that
  // many seconds' worth.
  static constexpr std::int64_t lines_per_second = 32, bytes_per_second = 16 * 1024,
                                burst_seconds = 30;
  // Of what an agent chose, so much stands in the line of a refusal.
  static constexpr std::size_t max_method_bytes = 32, max_path_bytes = 256;

  // The line of a refusal, cut to the bounds above. `co_await` it before answering: it comes back
  // once the line is written, at the end of the turn if the refusal was only counted.
  [[nodiscard]] AuditQueue::Written write(AuditQueue& queue, audit::Record record,
                                          const std::shared_ptr<acl::Account>& account,
                                          SteadyTime now);

  // A refusal without a line of its own.
  void count(const std::string& agent, const std::shared_ptr<acl::Account>& account,
             acl::Reason reason);

  // The lines of everything counted; by one thread, once a second. While the log fails, what is
  // counted stays counted. `last`: it is written now or never.
  void write_counted(audit::Log& log, bool last = false);

 private:
  struct Counted {
    std::string agent;
    std::shared_ptr<acl::Account> account;
  };
  std::mutex mutex_;
  std::vector<Counted> counted_;  // each account at most once
};

}  // namespace stile::session
