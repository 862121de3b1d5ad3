// lint: finds settings that are valid but probably not intended.
#include "config/lint.h"

#include <algorithm>
#include <set>
#include <string>

#include "acl/localhost.h"
#include "base/quoted.h"
#include "base/unix_time.h"
#include "config/lint_rules.h"

namespace stile::config {
namespace {

void lint_identity(const AgentSettings& agent, UnixMicros now, Diagnostics& warnings) {
  const auto warn = [&](std::string_view key, std::string problem) {
    const auto place = place_of(agent.place.file, agent.keys, "agent", key);
    warnings.warning(place.line > 0 ? place : agent.place, "agent." + std::string{key},
                     std::move(problem));
  };
  if (agent.source.empty() && agent.listen.empty()) {
    warn("source",
         "no connection can belong to agent " + agent.id +
             ": it has no source and no listener; unless systemd passes one of this name");
  }
  const bool has_unix = std::any_of(agent.listen.begin(), agent.listen.end(),
                                    [](const Endpoint& each) { return !each.unix_path.empty(); });
  if (has_unix && (agent.listen_mode & 0002) != 0) {
    warn("listen_mode", "every user of this host can connect as " + agent.id);
  }
  for (const auto& source : agent.source) {
    if (source.length == 0) warn("source", "every client that is no other agent is " + agent.id);
  }
  if (agent.expires && *agent.expires <= now) {
    warn("expires", "agent " + agent.id + " ended at " + time_text(*agent.expires));
  }
}

void lint_allowed(const AgentSettings& agent, const acl::AgentPolicy& policy,
                  Diagnostics& warnings) {
  if (policy.allow.sets.empty() && policy.allow_ip.empty()) {
    warnings.warning(agent.place, "agent.allow", "agent " + agent.id + " may reach nothing");
  }
  if (agent.allow.empty()) return;
  for (const auto& allowed : agent.allow) {
    const auto& pattern = allowed.pattern;
    if (pattern.kind == acl::Pattern::Kind::regex || !acl::is_localhost(pattern.name)) continue;
    if (acl::reaches_loopback(policy)) continue;
    warnings.warning({agent.place.file, allowed.line, 0}, "agent.allow",
                     in_quotes(pattern.text()) +
                         " can never work: it is this host itself, to which Stile does not connect",
                     "give the service another name, and its address to private_exceptions");
  }
  const auto& own = policy.allow.sets.front();  // the patterns of its own entry, see compile_agent
  for (std::uint32_t index = 0; index < own->size(); ++index) {
    const acl::RuleRef ref{own.get(), index};
    for (const auto& denied : policy.deny.sets) {
      if (const auto cover = find_cover(ref, *denied, ListRole::deny)) {
        warnings.warning({agent.place.file, ref.rule().line, 0}, "agent.allow",
                         in_quotes(ref.pattern()) + " is denied by " + cover.describe());
        break;
      }
    }
  }
}

// A regular expression may match any name.
bool may_cover(const acl::RuleSet& rules, const acl::Pattern& host) {
  for (std::uint32_t index = 0; index < rules.size(); ++index) {
    const acl::Rule& rule = rules.rule(index);
    const std::string_view name = rules.name(rule);
    if (rule.kind == acl::Pattern::Kind::regex ||
        acl::covers_names(rule.kind, name, host.kind, host.name) ||
        acl::covers_names(host.kind, host.name, rule.kind, name)) {
      return true;
    }
  }
  return false;
}

// A secret goes nowhere if its agents may not reach its hosts. One that no agent uses may be for
// cards that come later.
void lint_secrets(const Loaded& loaded, const std::vector<const AgentSettings*>& agents,
                  const std::vector<std::shared_ptr<const acl::AgentPolicy>>& policies,
                  Diagnostics& warnings) {
  for (const auto& secret : loaded.settings.secret) {
    for (const auto& host : secret.hosts) {
      bool is_used = false, is_reached = false;
      std::set<const acl::RuleSet*> searched;  // lists are shared
      for (std::size_t i = 0; i < agents.size() && i < policies.size() && !is_reached; ++i) {
        const auto& used = agents[i]->secrets;
        if (std::find(used.begin(), used.end(), secret.name) == used.end()) continue;
        is_used = true;
        is_reached = policies[i]->asks;
        for (const auto& set : policies[i]->allow.sets) {
          is_reached =
              is_reached || (searched.insert(set.get()).second && may_cover(*set, host.pattern));
        }
      }
      if (!is_used || is_reached) continue;
      warnings.warning({secret.place.file, host.line, 0}, "secret." + secret.name,
                       "no agent that uses it may reach " + in_quotes(host.pattern.text()));
    }
  }
}

}  // namespace

Diagnostics lint(const Loaded& loaded,
                 const std::vector<std::shared_ptr<const acl::AgentPolicy>>& policies,
                 UnixMicros now) {
  Diagnostics warnings;
  std::vector<const AgentSettings*> agents;
  for (const auto& agent : loaded.settings.agent) agents.push_back(&agent);
  for (const auto& agent : loaded.cards.accepted) agents.push_back(&agent);
  std::set<const acl::RuleSet*> allowing;  // lists are shared: check each one once
  std::set<const acl::RuleSet*> seen;
  for (std::size_t i = 0; i < agents.size() && i < policies.size(); ++i) {
    lint_identity(*agents[i], now, warnings);
    lint_allowed(*agents[i], *policies[i], warnings);
    for (const auto& set : policies[i]->allow.sets) {
      if (allowing.insert(set.get()).second) warn_of_wide_rules(*set, warnings);
      if (seen.insert(set.get()).second) warn_of_dead_rules(*set, ListRole::allow, warnings);
    }
    for (const auto& set : policies[i]->deny.sets) {
      if (seen.insert(set.get()).second) warn_of_dead_rules(*set, ListRole::deny, warnings);
    }
  }
  lint_secrets(loaded, agents, policies, warnings);
  warnings.sort();
  return warnings;
}

}  // namespace stile::config
