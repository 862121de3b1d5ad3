// RefusalLog: the audit lines of refusals, bounded for each agent.
//
// An agent may be refused a thousand times a second, and chooses much of a line's content. So each
// account has a rate of lines and bytes. Beyond it refusals are counted in memory, and once a
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
  // The rate at which one account may write refusals, and its burst after a quiet time: that many
  // seconds' worth.
  static constexpr std::int64_t lines_per_second = 32, bytes_per_second = 16 * 1024,
                                burst_seconds = 30;
  // The most that a refusal's line contains of text that an agent chose.
  static constexpr std::size_t max_method_bytes = 32, max_path_bytes = 256;

  // The line of a refusal, truncated to the bounds above. `co_await` it before answering: it
  // returns once the line is written, or at the end of the turn if the refusal was only counted.
  [[nodiscard]] AuditQueue::Written write(AuditQueue& queue, audit::Record record,
                                          const std::shared_ptr<acl::Account>& account,
                                          SteadyTime now);

  // A refusal without its own line.
  void count(const std::string& agent, const std::shared_ptr<acl::Account>& account,
             acl::Reason reason);

  // Writes the lines of all counted refusals; called by one thread, once a second. While the log
  // fails, the counts are kept. `last`: this is the last chance to write them.
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
