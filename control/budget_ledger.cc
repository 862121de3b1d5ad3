// How far ahead of its use a budget is written down.
#include "control/budget_ledger.h"

namespace stile::control {
namespace {

constexpr std::uint64_t least_bytes = 64 * 1024;
constexpr std::uint64_t least_requests = 1;

bool update(const std::optional<std::uint64_t>& total, const acl::Allowance& left,
            std::uint64_t least_step, bool is_active, std::uint64_t& written) {
  const std::uint64_t now =
      total ? reserve(*total, used_of(total, left), written, least_step, is_active) : 0;
  if (now == written) return false;
  written = now;
  return true;
}

}  // namespace

bool update_reserves(LivePolicy& policy, bool is_stopping) {
  bool is_changed = false;
  for (auto& [id, agent] : policy.agents()) {
    const bool is_active =
        !is_stopping && agent.account->connections.load(std::memory_order_relaxed) > 0;
    const acl::AgentPolicy& entry = *agent.policy;
    is_changed |=
        update(entry.bytes_up, agent.account->bytes_up, least_bytes, is_active, agent.reserved_up);
    is_changed |= update(entry.bytes_down, agent.account->bytes_down, least_bytes, is_active,
                         agent.reserved_down);
    if (entry.grants.empty()) continue;
    for (const auto& grant : policy.overlay(id)->grants) {
      const acl::Lease& lease = *grant.made.lease;
      // A grant that nobody has used yet is not touched by an agent that does other things.
      const bool is_drawn_on =
          is_active &&
          used_of(grant.max_requests, lease.requests) + used_of(grant.bytes_up, lease.bytes_up) > 0;
      is_changed |= update(grant.max_requests, lease.requests, least_requests, is_drawn_on,
                           grant.written->requests);
      is_changed |=
          update(grant.bytes_up, lease.bytes_up, least_bytes, is_drawn_on, grant.written->bytes_up);
    }
  }
  return is_changed;
}

}  // namespace stile::control
