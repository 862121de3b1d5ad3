// BudgetShare: what is left of budgets and counted grants, between two processes that serve the
// same agents for a while. One of them keeps the record; the other draws on it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "acl/allowance.h"
#include "control/live_policy.h"

namespace stile::control {

struct BudgetKey {
  enum class Count : std::uint8_t {
    bytes_up,
    bytes_down,
    grant_requests,
    grant_bytes_up,
    host_requests,
    host_tokens,
  };
  std::string agent;
  std::string part;  // the id of the grant, or the host; "" for the agent's own
  Count count = Count::bytes_up;
  static constexpr std::uint64_t last_count = static_cast<std::uint64_t>(Count::host_tokens);
};

// Calls visit(key, allowance, step) for everything that is limited.
using VisitBudget = std::function<void(const BudgetKey&, acl::Allowance&, std::int64_t step)>;
void each_budget(const LivePolicy& policy, const VisitBudget& visit);
// Null: the agent or grant is gone, or has no such limit.
[[nodiscard]] acl::Allowance* find_budget(const LivePolicy& policy, const BudgetKey& key);

// The counts of an agent on one host. Null: it has no budget there.
[[nodiscard]] acl::HostUsage* find_host(const LivePolicy& policy, const std::string& agent,
                                        const std::string& host);
// Calls visit(agent, usage of a host, host) for all of them.
using VisitHost = std::function<void(const std::string&, acl::HostUsage&, const std::string&)>;
void each_host(const LivePolicy& policy, const VisitHost& visit);

// What the process with the record gives.
struct Drawn {
  std::uint64_t amount = 0;
  bool is_spent = false;  // and nothing will follow
};
[[nodiscard]] Drawn draw(const LivePolicy& policy, const BudgetKey& key, std::uint64_t amount);
// What the other one does with it.
void receive(const LivePolicy& policy, const BudgetKey& key, const Drawn& drawn);

}  // namespace stile::control
