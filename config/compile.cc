// compile: turns settings into policies.
#include "config/compile.h"

#include <algorithm>
#include <utility>

#include "acl/look_alike.h"
#include "base/ascii.h"
#include "base/quoted.h"

namespace stile::config {
namespace {

std::shared_ptr<const acl::RuleSet> make_rules(const std::vector<PlacedPattern>& patterns,
                                               const std::string& source) {
  acl::RuleSet::Builder rules{source};
  for (const auto& [pattern, line] : patterns) rules.add(pattern, line);
  return std::move(rules).build();
}

acl::PrefixMap make_prefix_map(const std::vector<acl::Prefix>& global,
                               const std::vector<acl::Prefix>& own) {
  std::vector<std::pair<acl::Prefix, acl::PrefixMap::Value>> entries;
  entries.reserve(global.size() + own.size());
  for (const auto& prefix : global) entries.emplace_back(prefix, 0);
  for (const auto& prefix : own) entries.emplace_back(prefix, 0);
  return acl::PrefixMap{std::move(entries)};
}

// The lists of one direction of one agent.
RuleSets gather(const std::vector<PlacedPattern>& patterns, const std::vector<std::string>& files,
                const AgentSettings& agent, const std::string& key, ListFileCache& lists,
                Diagnostics& problems) {
  RuleSets sets;
  if (!patterns.empty()) sets.push_back(make_rules(patterns, agent.place.file));
  lists.get_all(files, place_of(agent.place.file, agent.keys, "agent", key), "agent." + key,
                nullptr, problems);
  for (const auto& file : files) {
    if (const auto& rules = lists.get(file)) sets.push_back(*rules);
  }
  return sets;
}

acl::Rules with_regexes(RuleSets sets, const AgentSettings& agent, RegexCache& regexes,
                        Diagnostics& problems) {
  acl::Rules rules{std::move(sets), nullptr};
  const auto compiled = regexes.get(rules.sets);
  if (compiled) {
    rules.regexes = *compiled;
  } else {
    problems.error(agent.place, "agent", compiled.error().message);
  }
  return rules;
}

void set_exceptions(const std::vector<PrivateExceptionSettings>& from, const std::string& file,
                    acl::AgentPolicy& policy) {
  for (const auto& [prefix, hosts] : from) {
    policy.private_exceptions.push_back(
        {prefix, hosts.empty() ? nullptr : make_rules(hosts, file)});
  }
}

// Like a grant of the control socket: a deny rule wins over it, and it ends by itself.
void set_grants(const AgentSettings& agent, SharedParts& shared, acl::AgentPolicy& policy,
                Diagnostics& problems) {
  for (const auto& grant : shared.egress.fleet_grants) {
    if (grant.agent != agent.id) continue;
    acl::Grant made;
    made.id = grant.file;
    made.rules = make_rules(grant.hosts, grant.file);
    made.expires = grant.expires;
    made.lease = std::make_shared<acl::Lease>();
    const auto regexes = shared.regexes.get({made.rules});
    if (regexes) {
      made.regexes = *regexes;
      policy.grants.push_back(std::move(made));
    } else {
      problems.error({grant.file, 0, 0}, "grant", regexes.error().message);
    }
  }
}

// Only what is opened can be counted.
void set_budgets(const AgentSettings& agent, acl::AgentPolicy& policy, Diagnostics& problems) {
  const auto place = [&](const BudgetSettings& budget) {
    Place at = place_of(agent.place.file, agent.keys, "agent", "budget");
    if (budget.host.line > 0) at.line = budget.host.line;
    return at;
  };
  for (const auto& budget : agent.budget) {
    const std::string host = budget.host.pattern.name;
    const acl::HostParse parsed = acl::parse_host(host);
    if (policy.budget_for(host) != nullptr) {
      problems.error(place(budget), "agent.budget.host", in_quotes(host) + " has two budgets",
                     "write one with both limits");
      continue;
    }
    if (!policy.inside || !policy.inside->opens_some_port(acl::HostKey{parsed.host})) {
      problems.error(place(budget), "agent.budget.host",
                     "requests to " + in_quotes(host) + " cannot be counted: it is not opened",
                     "name it in a request or can entry, or give it a secret");
      continue;
    }
    policy.budgets.push_back(
        {host, budget.requests_per_minute, budget.max_requests, budget.tokens, nullptr});
  }
}

acl::Ech make_ech(const EchSetting& from, const std::string& file, const AgentSettings& agent,
                  SharedParts& shared, Diagnostics& problems) {
  acl::Ech ech{from.everywhere, {}};
  if (from.hosts.empty()) return ech;
  ech.hosts = with_regexes({make_rules(from.hosts, file)}, agent, shared.regexes, problems);
  return ech;
}

}  // namespace

Result<std::shared_ptr<const acl::RegexSet>> RegexCache::get(const RuleSets& sets) {
  auto key = acl::RegexSet::key(sets);
  if (key.empty()) return std::shared_ptr<const acl::RegexSet>{};
  // A live set keeps its lists alive, so the addresses in the key are still valid.
  if (const auto found = sets_.find(key); found != sets_.end()) {
    if (auto alive = found->second.lock()) return alive;
  }
  std::erase_if(sets_, [](const auto& entry) { return entry.second.expired(); });
  auto compiled = acl::RegexSet::compile(sets);
  if (compiled) sets_[std::move(key)] = *compiled;
  return compiled;
}

SharedParts share(const Loaded& loaded) {
  const auto& egress = loaded.settings.egress;
  SharedParts shared{loaded.settings.file,
                     egress,
                     loaded.settings.limits,
                     loaded.lists,
                     Secrets{loaded.settings.secret},
                     CapabilityFiles{loaded.owner},
                     Scans{loaded.settings.scan},
                     {},
                     {}};
  shared.lists.forget_failures();
  if (!egress.deny.empty()) shared.deny.push_back(make_rules(egress.deny, loaded.settings.file));
  for (const auto& [file, patterns] : egress.fleet_deny) {
    shared.deny.push_back(make_rules(patterns, file));
  }
  for (const auto& file : egress.deny_files) {
    if (const auto& rules = shared.lists.get(file)) shared.deny.push_back(*rules);
  }
  return shared;
}

acl::Mode effective_mode(acl::Mode global, std::optional<acl::Mode> own) noexcept {
  return global == acl::Mode::offline ? global : own.value_or(global);
}

Checked<std::shared_ptr<const acl::AgentPolicy>> compile_agent(const AgentSettings& agent,
                                                               SharedParts& shared) {
  const auto& egress = shared.egress;
  const auto& limits = shared.limits;
  Diagnostics problems;
  auto policy = std::make_shared<acl::AgentPolicy>();
  policy->id = agent.id;
  policy->instance = agent.instance;
  policy->sources = agent.source;
  policy->expires = agent.expires;
  policy->mode = effective_mode(egress.mode, agent.mode);
  policy->ports = agent.ports.value_or(egress.ports);
  policy->http_ports = agent.http_ports.value_or(egress.http_ports);
  policy->allow_ip = agent.allow_ip;
  policy->check_sni = agent.check_sni.value_or(egress.check_sni);
  policy->asks = agent.asks.value_or(egress.asks);
  policy->contact = agent.contact.value_or(egress.contact);
  for (const auto& name : agent.strip_request_headers.value_or(egress.strip_request_headers)) {
    policy->strip_request_headers.push_back(lower_case(name));
  }
  policy->max_connections = agent.connections_per_agent.value_or(limits.connections_per_agent);
  policy->requests_per_second = agent.requests_per_second.value_or(limits.requests_per_second);
  policy->bytes_up = agent.bytes_up;
  policy->bytes_down = agent.bytes_down;
  policy->bytes_up_slice = agent.bytes_up_slice;
  policy->forbid_addresses = make_prefix_map(egress.forbid_addresses, agent.forbid_addresses);
  if (agent.private_exceptions) {
    set_exceptions(*agent.private_exceptions, agent.place.file, *policy);
  } else {
    set_exceptions(egress.private_exceptions, shared.file, *policy);
  }
  auto allow = gather(agent.allow, agent.allow_files, agent, "allow_files", shared.lists, problems);
  auto deny = gather(agent.deny, agent.deny_files, agent, "deny_files", shared.lists, problems);
  policy->inside = compile_inside(agent, shared.secrets, shared.capabilities, problems);
  set_budgets(agent, *policy, problems);
  policy->watch =
      shared.scans.watch(agent, agent.scan.value_or(egress.scan), shared.secrets, problems);
  // What a request entry names is allowed, for its requests.
  if (policy->inside && policy->inside->request_hosts) {
    allow.push_back(policy->inside->request_hosts);
  }
  deny.insert(deny.end(), shared.deny.begin(), shared.deny.end());
  policy->allow = with_regexes(std::move(allow), agent, shared.regexes, problems);
  policy->look_alikes = acl::LookAlikes::of(policy->allow);
  policy->deny = with_regexes(std::move(deny), agent, shared.regexes, problems);
  policy->ech = agent.ech ? make_ech(*agent.ech, agent.place.file, agent, shared, problems)
                          : make_ech(egress.ech, shared.file, agent, shared, problems);
  set_grants(agent, shared, *policy, problems);
  if (problems.has_errors()) return problems;
  return std::shared_ptr<const acl::AgentPolicy>{std::move(policy)};
}

Checked<std::vector<std::shared_ptr<const acl::AgentPolicy>>> compile_all(Loaded& loaded,
                                                                          SharedParts& shared) {
  std::vector<std::shared_ptr<const acl::AgentPolicy>> policies;
  Diagnostics problems;
  for (const auto& agent : loaded.settings.agent) {
    auto policy = compile_agent(agent, shared);
    if (policy) {
      policies.push_back(std::move(*policy));
    } else {
      problems.append(policy.error());
    }
  }
  if (problems.has_errors()) return problems;
  std::vector<AgentSettings> good;
  for (auto& card : loaded.cards.accepted) {
    auto policy = compile_agent(card, shared);
    if (policy) {
      policies.push_back(std::move(*policy));
      good.push_back(std::move(card));
    } else {
      loaded.cards.rejected.push_back({card.place.file, card.id, policy.error()});
    }
  }
  loaded.cards.accepted = std::move(good);
  return policies;
}

}  // namespace stile::config
