// Searches allow lists, grants and deny lists.
#include "acl/rule_search.h"

#include <algorithm>
#include <span>

namespace stile::acl {
namespace {

using Reach = Pattern::Reach;
using Sets = std::span<const std::shared_ptr<const RuleSet>>;

// Whether a pattern with a port covers this port and scheme.
bool carries(const CoveringRule& rule, const Destination& destination) noexcept {
  if (rule.reach == Reach::bare || rule.port != destination.port) return false;
  return (rule.reach == Reach::http) == (destination.scheme == Scheme::http);
}

// Whether a deny rule for the name refuses this port and scheme.
bool denies(const CoveringRule& rule, const Destination& destination) noexcept {
  return rule.reach == Reach::bare || carries(rule, destination);
}

// A used-up request count refuses only new requests; a request that was counted stays open.
bool is_alive(const Grant& grant, const Moment& moment) noexcept {
  return (!grant.expires || moment.now < *grant.expires) && grant.lease &&
         !grant.lease->bytes_up.is_spent() &&
         (grant.lease.get() == moment.charged || !grant.lease->requests.is_spent());
}

CoveringRule find_in_lists(Sets sets, const RegexSet* regexes, const Destination& destination) {
  CoveringRule bare, carrying, tcp;
  for (const auto& set : sets) {
    set->visit(destination.key, [&](const CoveringRule& rule) {
      if (rule.reach == Reach::bare) {
        if (!bare) bare = rule;
      } else if (carries(rule, destination)) {
        CoveringRule& found = rule.reach == Reach::tcp ? tcp : carrying;
        if (!found) found = rule;
      }
      return false;
    });
  }
  if (tcp) return tcp;  // comes first: the operator said that this port is not TLS
  if (carrying) return carrying;
  if (!destination.is_listed) return {};
  if (!bare && regexes != nullptr) {
    const RegexSet::Match match = regexes->match(destination.key.name());
    if (!match.failed && !match.rules.empty()) return {match.rules.front()};
  }
  return bare;
}

bool has_underscore(RuleRef ref) noexcept {
  return ref.set->name(ref.rule()).find('_') != std::string_view::npos;
}

// `counts` selects the rules that may name it.
template <class Counts>
bool list_names_underscore(Sets sets, const RegexSet* regexes, const HostKey& key,
                           Counts&& counts) {
  const auto names_one = [&](const CoveringRule& rule) {
    return has_underscore(rule) && counts(rule);
  };
  for (const auto& set : sets) {
    if (set->visit(key, names_one)) return true;
  }
  if (regexes == nullptr) return false;
  const RegexSet::Match match = regexes->match(key.name());
  return std::any_of(match.rules.begin(), match.rules.end(),
                     [&](RuleRef ref) { return names_one({ref}); });
}

Sets sets_of(const Grant& grant) noexcept { return {&grant.rules, grant.rules ? 1u : 0u}; }

}  // namespace

AllowMatch find_allow(const AgentPolicy& agent, const Destination& destination,
                      const Moment& moment) {
  const CoveringRule rule = find_in_lists(agent.allow.sets, agent.allow.regexes.get(), destination);
  if (rule && rule.reach == Reach::tcp) return {rule, nullptr};
  for (const Grant& grant : agent.grants) {
    if (grant.only || !is_alive(grant, moment)) continue;
    const CoveringRule granted = find_in_lists(sets_of(grant), grant.regexes.get(), destination);
    // A destination that the policy allows needs no grant, except for tunnels without TLS.
    if (granted && (!rule || granted.reach == Reach::tcp)) return {granted, &grant};
  }
  return {rule, nullptr};
}

AllowMatch find_granted_request(const AgentPolicy& agent, const Destination& destination,
                                std::string_view method, std::string_view path,
                                const Moment& moment) {
  for (const Grant& grant : agent.grants) {
    if (!grant.only || grant.only->method != method || grant.only->path != path) continue;
    if (!is_alive(grant, moment)) continue;
    const CoveringRule rule = find_in_lists(sets_of(grant), grant.regexes.get(), destination);
    if (rule) return {rule, &grant};
  }
  return {};
}

DenyMatch find_deny(const AgentPolicy& agent, const Destination& destination) {
  RuleRef denying;
  for (const auto& set : agent.deny.sets) {
    const bool found = set->visit(destination.key, [&](const CoveringRule& rule) {
      if (!denies(rule, destination)) return false;
      denying = rule;
      return true;
    });
    if (found) return {true, denying};
  }
  if (!agent.deny.regexes) return {};
  const RegexSet::Match match = agent.deny.regexes->match(destination.key.name());
  if (match.failed) return {true, {}};
  if (match.rules.empty()) return {};
  return {true, match.rules.front()};
}

bool visit_carried_ports(const AgentPolicy& agent, const HostKey& key, const Moment& moment,
                         const std::function<bool(Scheme, std::uint16_t)>& visit) {
  const auto visit_rule = [&](const CoveringRule& rule) {
    if (rule.reach == Reach::bare) return false;
    return visit(rule.reach == Reach::http ? Scheme::http : Scheme::tunnel, rule.port);
  };
  const auto visit_sets = [&](Sets sets) {
    return std::any_of(sets.begin(), sets.end(),
                       [&](const auto& set) { return set->visit(key, visit_rule); });
  };
  return visit_sets(agent.allow.sets) ||
         std::any_of(agent.grants.begin(), agent.grants.end(), [&](const Grant& grant) {
           return !grant.only && is_alive(grant, moment) && visit_sets(sets_of(grant));
         });
}

bool covers(const Rules& rules, const HostKey& key, std::uint16_t port) {
  return static_cast<bool>(
      find_in_lists(rules.sets, rules.regexes.get(), {key, Scheme::tunnel, port, true}));
}

bool rule_names_underscore(const AgentPolicy& agent, const Destination& destination,
                           const Moment& moment) {
  const HostKey& key = destination.key;
  const auto any = [](const CoveringRule&) { return true; };
  const auto denying = [&](const CoveringRule& rule) { return denies(rule, destination); };
  if (list_names_underscore(agent.allow.sets, agent.allow.regexes.get(), key, any)) return true;
  if (list_names_underscore(agent.deny.sets, agent.deny.regexes.get(), key, denying)) return true;
  return std::any_of(agent.grants.begin(), agent.grants.end(), [&](const Grant& grant) {
    return !grant.only && is_alive(grant, moment) &&
           list_names_underscore(sets_of(grant), grant.regexes.get(), key, any);
  });
}

}  // namespace stile::acl
