// Views: what the commands answer, from policies and counters.
#include "proxy/commands/views.h"

#include <algorithm>
#include <utility>

namespace stile::commands {
namespace {

using Running = control::LivePolicy::Running;

constexpr std::size_t max_patterns_shown = 1000;

std::size_t count_of(const acl::Rules& rules) {
  std::size_t count = 0;
  for (const auto& set : rules.sets) count += set->size();
  return count;
}

RulesView view_rules(const acl::Rules& rules) {
  RulesView view;
  for (const auto& set : rules.sets) {
    for (std::uint32_t i = 0; i < set->size() && view.patterns.size() < max_patterns_shown; ++i) {
      view.patterns.emplace_back(acl::RuleRef{set.get(), i}.pattern());
    }
  }
  view.count = count_of(rules);
  return view;
}

std::vector<std::string> view_opened(const acl::Inside& inside) {
  acl::Rules hosts;
  for (const auto& set : {inside.request_hosts, inside.secret_hosts}) {
    if (set) hosts.sets.push_back(set);
  }
  std::vector<std::string> patterns = view_rules(hosts).patterns;
  std::sort(patterns.begin(), patterns.end());
  patterns.erase(std::unique(patterns.begin(), patterns.end()), patterns.end());
  return patterns;
}

template <class Values>
std::vector<std::string> texts(const Values& values) {
  std::vector<std::string> all;
  for (const auto& value : values) all.emplace_back(value.text());
  return all;
}

std::optional<std::int64_t> seconds_until(const std::optional<UnixMicros>& end, UnixMicros now) {
  if (!end) return std::nullopt;
  return std::max<std::int64_t>(0, (*end - now) / 1'000'000);
}

GrantView view_grant(const control::GrantState& grant, UnixMicros now) {
  GrantView view;
  view.id = grant.id;
  view.hosts = texts(grant.hosts);
  view.created = grant.created;
  view.expires = grant.expires;
  view.seconds_left = seconds_until(grant.expires, now);
  const acl::Lease& lease = *grant.made.lease;
  view.max_requests = grant.max_requests;
  view.requests_left = lease.requests.left();
  view.bytes_up = grant.bytes_up;
  view.bytes_up_left = lease.bytes_up.left();
  view.reason = grant.reason;
  view.actor = grant.actor;
  return view;
}

// The others are those of the overlay.
bool is_of_fleet(const acl::Grant& grant) { return grant.id.starts_with("fleet:"); }

GrantView view_fleet_grant(const acl::Grant& grant, UnixMicros now) {
  GrantView view;
  view.id = grant.id;
  for (std::uint32_t i = 0; i < grant.rules->size(); ++i) {
    view.hosts.emplace_back(acl::RuleRef{grant.rules.get(), i}.pattern());
  }
  view.expires = grant.expires;
  view.seconds_left = seconds_until(grant.expires, now);
  view.actor = "fleet";
  return view;
}

std::optional<BudgetView> view_budget(const std::optional<std::uint64_t>& total,
                                      const acl::Allowance& left) {
  if (!total) return std::nullopt;
  return BudgetView{*total, control::used_of(total, left), left.left(), std::nullopt, false};
}

BudgetView view_count(std::uint64_t total, std::uint64_t used) {
  const std::uint64_t left = total > used ? total - used : 0;
  return {total, used, static_cast<std::int64_t>(left), std::nullopt, false};
}

std::vector<HostBudgetView> view_host_budgets(const acl::AgentPolicy& policy, UnixMicros now) {
  std::vector<HostBudgetView> views;
  for (const acl::HostBudget& budget : policy.budgets) {
    const acl::HostUsage& usage = *budget.usage;
    HostBudgetView view;
    view.host = budget.host;
    view.max_requests = view_budget(budget.max_requests, usage.requests);
    if (const auto& total = budget.requests_per_minute) {
      view.requests_per_minute = view_count(*total, usage.minute.used(now));
    }
    if (const auto& total = budget.tokens) {
      const auto owed = std::max<std::int64_t>(usage.owed_tokens, 0);
      view.tokens = view_count(
          *total, control::used_of(total, usage.tokens) + static_cast<std::uint64_t>(owed));
    }
    views.push_back(std::move(view));
  }
  return views;
}

std::string origin_of(const control::LivePolicy& policy, const Running& agent) {
  if (policy.is_put(agent.policy->id)) return "put-agent";
  const auto& place = agent.entry->settings.place;
  return place.line > 0 ? place.file + ':' + std::to_string(place.line) : place.file;
}

AgentView view_agent(const control::LivePolicy& policy, const Running& agent, const Totals& totals,
                     UnixMicros now) {
  const acl::AgentPolicy& in_force = *agent.policy;
  AgentView view;
  view.id = in_force.id;
  view.instance = in_force.instance;
  view.sources = agent.entry->identity.sources;
  view.entry = origin_of(policy, agent);
  view.mode = in_force.mode;
  view.expires = in_force.expires;
  view.seconds_left = seconds_until(in_force.expires, now);
  view.connections = agent.account->connections.load(std::memory_order_relaxed);
  view.bytes_up = view_budget(in_force.bytes_up, agent.account->bytes_up);
  if (view.bytes_up && in_force.bytes_up_slice) {
    view.bytes_up->slice = in_force.bytes_up_slice;
    view.bytes_up->is_waiting = agent.account->bytes_up.is_asked_for();
  }
  view.bytes_down = view_budget(in_force.bytes_down, agent.account->bytes_down);
  view.host_budgets = view_host_budgets(in_force, now);
  view.rules = count_of(in_force.allow) + count_of(in_force.deny);
  for (const auto& grant : policy.overlay(in_force.id)->grants) {
    view.grants.push_back(view_grant(grant, now));
  }
  for (const auto& grant : in_force.grants) {
    const bool is_over = grant.expires && *grant.expires <= now;
    if (is_of_fleet(grant) && !is_over) view.grants.push_back(view_fleet_grant(grant, now));
  }
  view.totals = totals;
  return view;
}

std::vector<RejectedCardView> view_rejected_cards(const control::LivePolicy& policy) {
  std::vector<RejectedCardView> cards;
  for (const auto& card : policy.base().loaded.cards.rejected) {
    cards.push_back({card.file, card.id, card.problems.text()});
  }
  for (const auto& [id, problems] : policy.refused_cards()) {
    cards.push_back({"put-agent", id, problems.text()});
  }
  return cards;
}

void add(Totals& sum, const Totals& one) {
  sum.allowed += one.allowed;
  sum.denied += one.denied;
  sum.would_deny += one.would_deny;
  sum.tunnels_open += one.tunnels_open;
  sum.connections_refused += one.connections_refused;
  sum.bytes_up += one.bytes_up;
  sum.bytes_down += one.bytes_down;
}

}  // namespace

TotalsByAgent sum_up(const std::vector<session::Report>& reports) {
  TotalsByAgent all;
  for (const auto& report : reports) {
    for (const auto& series : report.requests) {
      Totals& totals = all[series.agent];
      auto& count = series.verdict == acl::Verdict::allow  ? totals.allowed
                    : series.verdict == acl::Verdict::deny ? totals.denied
                                                           : totals.would_deny;
      count += series.count;
    }
    for (const auto& agent : report.agents) {
      Totals& totals = all[agent.id];
      totals.tunnels_open += agent.tunnels_open;
      totals.connections_refused += agent.connections_refused;
      totals.bytes_up += agent.bytes_up;
      totals.bytes_down += agent.bytes_down;
    }
  }
  return all;
}

PingView view_ping(const control::LivePolicy& policy) {
  PingView view;
  view.generation = policy.snapshot()->generation();
  view.config = policy.base().loaded.settings.file;
  view.mode = policy.mode();
  view.rejected_cards = view_rejected_cards(policy);
  return view;
}

StatusView view_status(const control::LivePolicy& policy, const TotalsByAgent& totals) {
  StatusView view;
  view.agents = policy.agents().size();
  for (const auto& [id, overlay] : policy.overlays()) view.grants += overlay->grants.size();
  for (const auto& [id, one] : totals) add(view.totals, one);
  return view;
}

AgentViews view_agents(const control::LivePolicy& policy, TotalsByAgent totals, UnixMicros now) {
  AgentViews views;
  for (const auto& [id, agent] : policy.agents()) {
    views.push_back(view_agent(policy, agent, totals[id], now));
  }
  return views;
}

AgentDetailView view_agent_detail(const control::LivePolicy& policy, const Running& agent,
                                  const Totals& totals, UnixMicros now) {
  const acl::AgentPolicy& in_force = *agent.policy;
  AgentDetailView view;
  view.agent = view_agent(policy, agent, totals, now);
  view.allow = view_rules(in_force.allow);
  view.deny = view_rules(in_force.deny);
  if (in_force.inside) view.opened = view_opened(*in_force.inside);
  view.allow_files = agent.entry->settings.allow_files;
  view.ports = in_force.ports;
  view.http_ports = in_force.http_ports;
  view.allow_ip = texts(in_force.allow_ip);
  view.sni = in_force.check_sni ? "match" : "off";
  view.ech = text(in_force.ech);
  view.unlisted = in_force.asks ? "ask" : "refuse";
  view.connections_per_agent = in_force.max_connections;
  view.requests_per_second = in_force.requests_per_second;
  view.revoked = texts(policy.overlay(in_force.id)->denied);
  return view;
}

ReloadView view_reload(const control::LivePolicy& policy, control::ReloadResult result) {
  return {std::move(result), view_rejected_cards(policy)};
}

}  // namespace stile::commands
