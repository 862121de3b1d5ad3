// BudgetShare: what is left of budgets, between two processes.
#include "control/budget_share.h"

#include "control/budget_ledger.h"

namespace stile::control {

using Count = BudgetKey::Count;

namespace {

void each_budget_of(const std::string& id, const LivePolicy::Running& agent,
                    const VisitBudget& visit) {
  acl::Account& account = *agent.account;
  if (const auto& total = agent.policy->bytes_up) {
    visit({id, "", Count::bytes_up}, account.bytes_up, bytes_step(*total));
  }
  if (const auto& total = agent.policy->bytes_down) {
    visit({id, "", Count::bytes_down}, account.bytes_down, bytes_step(*total));
  }
  for (const acl::HostBudget& budget : agent.policy->budgets) {
    acl::HostUsage& usage = *budget.usage;
    if (const auto& total = budget.max_requests) {
      visit({id, budget.host, Count::host_requests}, usage.requests, requests_step(*total));
    }
    if (const auto& total = budget.tokens) {
      visit({id, budget.host, Count::host_tokens}, usage.tokens, tokens_step(*total));
    }
  }
  if (!agent.overlay) return;
  for (const auto& grant : agent.overlay->grants) {
    acl::Lease& lease = *grant.made.lease;
    if (const auto& total = grant.max_requests) {
      visit({id, grant.id, Count::grant_requests}, lease.requests, requests_step(*total));
    }
    if (const auto& total = grant.bytes_up) {
      visit({id, grant.id, Count::grant_bytes_up}, lease.bytes_up, bytes_step(*total));
    }
  }
}

}  // namespace

void each_budget(const LivePolicy& policy, const VisitBudget& visit) {
  for (const auto& [id, agent] : policy.agents()) each_budget_of(id, agent, visit);
}

acl::Allowance* find_budget(const LivePolicy& policy, const BudgetKey& key) {
  const auto* agent = policy.find(key.agent);
  if (agent == nullptr) return nullptr;
  acl::Allowance* found = nullptr;
  each_budget_of(key.agent, *agent,
                 [&](const BudgetKey& one, acl::Allowance& allowance, std::int64_t) {
                   if (one.part == key.part && one.count == key.count) found = &allowance;
                 });
  return found;
}

acl::HostUsage* find_host(const LivePolicy& policy, const std::string& agent,
                          const std::string& host) {
  const auto* running = policy.find(agent);
  const auto* budget = running == nullptr ? nullptr : running->policy->budget_for(host);
  return budget == nullptr ? nullptr : budget->usage.get();
}

void each_host(const LivePolicy& policy, const VisitHost& visit) {
  for (const auto& [id, agent] : policy.agents()) {
    for (const acl::HostBudget& budget : agent.policy->budgets) {
      visit(id, *budget.usage, budget.host);
    }
  }
}

Drawn draw(const LivePolicy& policy, const BudgetKey& key, std::uint64_t amount) {
  acl::Allowance* allowance = find_budget(policy, key);
  if (allowance == nullptr) return {0, true};
  const std::size_t taken = allowance->take(amount);
  return {taken, taken == 0 && allowance->is_spent()};
}

void receive(const LivePolicy& policy, const BudgetKey& key, const Drawn& drawn) {
  acl::Allowance* allowance = find_budget(policy, key);
  if (allowance == nullptr) return;
  static_cast<void>(allowance->answer());
  if (drawn.is_spent) return allowance->add(-allowance->balance());
  // What is drawn is on record in the other process.
  static_cast<void>(allowance->book(static_cast<std::int64_t>(drawn.amount)));
  allowance->settle(true);
}

}  // namespace stile::control
