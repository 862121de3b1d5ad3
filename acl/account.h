// Account: the usage counters of one agent, shared by all workers.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>

#include "acl/allowance.h"
#include "acl/decision.h"
#include "acl/host_budget.h"

namespace stile::acl {

// One per (id, instance). Lives until the agent and all its connections are gone.
struct Account {
  std::atomic<std::uint32_t> connections{0};
  std::atomic<std::uint32_t> dns_in_flight{0};
  std::atomic<std::int64_t> next_request_ns{0};   // for the rate limit: when the next one is due
  std::atomic<std::int64_t> next_question_ns{0};  // the same for questions to the name server
  // The rate limit for audit lines about refusals: when the next line is due, and per reason the
  // number of refusals that no line has reported yet.
  std::atomic<std::int64_t> next_refusal_line_ns{std::numeric_limits<std::int64_t>::min()};
  std::array<std::atomic<std::uint64_t>, reason_count> refusals_counted{};
  std::atomic<bool> has_refusals_counted{false};
  Allowance bytes_up, bytes_down;
  // By host. Only for the thread that changes policies; workers find them in the policy.
  std::map<std::string, std::shared_ptr<HostUsage>, std::less<>> hosts;
};

}  // namespace stile::acl
