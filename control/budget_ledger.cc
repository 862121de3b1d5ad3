// BudgetLedger: records the use of budgets and counted grants in the state file before it happens.
#include "control/budget_ledger.h"

namespace stile::control {
namespace {

// What may be put on record: at most a step, and only as much as is this host's. More can become
// ready later, so an agent waits for it and is not cut off.
std::int64_t bookable(const acl::AgentPolicy& agent, const acl::Allowance& allowance,
                      std::int64_t step) noexcept {
  const std::int64_t wanted = step - allowance.ready();
  if (&allowance != &agent.account->bytes_up || !agent.bytes_up_slice) return wanted;
  const std::int64_t recorded = static_cast<std::int64_t>(*agent.bytes_up) - allowance.unrecorded();
  return std::min(wanted, static_cast<std::int64_t>(*agent.bytes_up_slice) - recorded);
}

// Calls act(owner, allowance, step, agent) for everything that is limited.
template <class Act>
void each_limited(const LivePolicy& policy, Act&& act) {
  for (const auto& [id, agent] : policy.agents()) {
    const auto& account = agent.account;
    if (const auto& total = agent.policy->bytes_up) {
      act(account, account->bytes_up, bytes_step(*total), *agent.policy);
    }
    if (const auto& total = agent.policy->bytes_down) {
      act(account, account->bytes_down, bytes_step(*total), *agent.policy);
    }
    for (const acl::HostBudget& budget : agent.policy->budgets) {
      const auto& usage = budget.usage;
      if (const auto& total = budget.max_requests) {
        act(usage, usage->requests, requests_step(*total), *agent.policy);
      }
      if (const auto& total = budget.tokens) {
        act(usage, usage->tokens, tokens_step(*total), *agent.policy);
      }
    }
    if (!agent.overlay) continue;
    for (const auto& grant : agent.overlay->grants) {
      const auto& lease = grant.made.lease;
      if (grant.max_requests) {
        act(lease, lease->requests, requests_step(*grant.max_requests), *agent.policy);
      }
      if (grant.bytes_up) act(lease, lease->bytes_up, bytes_step(*grant.bytes_up), *agent.policy);
    }
  }
}

constexpr std::int64_t low_water(std::int64_t step) noexcept { return (step + 1) / 2; }

}  // namespace

void watch_budgets(const LivePolicy& policy, acl::Refill& refill) {
  each_limited(policy, [&](const auto&, acl::Allowance& allowance, std::int64_t step, const auto&) {
    allowance.watch(&refill, low_water(step));
  });
}

bool is_reserve_asked_for(const LivePolicy& policy) {
  bool is_asked_for = false;
  each_limited(policy, [&](const auto&, const acl::Allowance& allowance, std::int64_t,
                           const auto&) { is_asked_for |= allowance.is_asked_for(); });
  return is_asked_for;
}

Booking book_reserves(const LivePolicy& policy) {
  Booking booking;
  for (const auto& [id, agent] : policy.agents()) {
    for (const acl::HostBudget& budget : agent.policy->budgets) budget.usage->record_debt();
  }
  each_limited(policy, [&](const auto& owner, acl::Allowance& allowance, std::int64_t step,
                           const acl::AgentPolicy& agent) {
    const std::int64_t amount = bookable(agent, allowance, step);
    if (allowance.ready() < low_water(step) && amount <= 0) return;  // it stays asked for
    if (!allowance.answer() || allowance.ready() >= low_water(step)) return;
    if (allowance.book(amount)) {
      booking.add(std::shared_ptr<acl::Allowance>{owner, &allowance});
    }
  });
  return booking;
}

void reclaim_reserves(const LivePolicy& policy) {
  each_limited(policy, [](const auto&, acl::Allowance& allowance, std::int64_t, const auto&) {
    static_cast<void>(allowance.reclaim());
  });
}

}  // namespace stile::control
