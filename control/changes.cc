// Changes: the changes of a reload per agent, in numbers.
#include "control/changes.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

namespace stile::control {
namespace {

// Compares lists by the hashes of their rules. Lists shared by many agents are compared once.
class Comparison {
 public:
  void compare(const acl::Rules& before, const acl::Rules& now, AgentChange& change) {
    std::multimap<std::string, const acl::RuleSet*> old;  // by source file
    for (const auto& set : before.sets) old.emplace(set->source(), set.get());
    for (const auto& set : now.sets) {
      const auto found = old.lower_bound(set->source());  // the first of several
      if (found == old.end() || found->first != set->source()) {
        change.added += set->size();
        continue;
      }
      const auto [added, removed] = difference(*found->second, *set);
      change.added += added;
      change.removed += removed;
      old.erase(found);
    }
    for (const auto& [source, set] : old) change.removed += set->size();
  }

 private:
  using Hashes = std::vector<std::size_t>;
  using Counts = std::pair<std::size_t, std::size_t>;

  const Hashes& hashes(const acl::RuleSet& set) {
    const auto [found, is_new] = hashes_.try_emplace(&set);
    if (!is_new) return found->second;
    Hashes& all = found->second;
    all.reserve(set.size());
    for (std::uint32_t i = 0; i < set.size(); ++i) {
      const acl::Rule& rule = set.rule(i);
      const std::size_t kind = (std::size_t{rule.port} << 16) |
                               (static_cast<std::size_t>(rule.kind) << 8) |
                               static_cast<std::size_t>(rule.reach);
      all.push_back(std::hash<std::string_view>{}(set.name(rule)) * 31 + kind);
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  Counts difference(const acl::RuleSet& before, const acl::RuleSet& now) {
    if (&before == &now) return {0, 0};
    const auto [found, is_new] = counts_.try_emplace({&before, &now});
    if (!is_new) return found->second;
    const Hashes& a = hashes(before);
    const Hashes& b = hashes(now);
    std::size_t common = 0;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
      if (a[i] == b[j]) ++common;
      const bool step_a = a[i] <= b[j];
      const bool step_b = b[j] <= a[i];
      i += step_a ? 1 : 0;
      j += step_b ? 1 : 0;
    }
    found->second = {b.size() - common, a.size() - common};
    return found->second;
  }

  std::map<const acl::RuleSet*, Hashes> hashes_;
  std::map<std::pair<const acl::RuleSet*, const acl::RuleSet*>, Counts> counts_;
};

std::size_t rules_of(const acl::AgentPolicy& policy) {
  std::size_t count = 0;
  for (const auto* rules : {&policy.allow, &policy.deny}) {
    for (const auto& set : rules->sets) count += set->size();
  }
  return count;
}

// Changes of [egress] and [limits] are not visible in an agent's own entry.
bool same_defaults(const acl::AgentPolicy& a, const acl::AgentPolicy& b) {
  return a.mode == b.mode && a.ports == b.ports && a.http_ports == b.http_ports &&
         a.check_sni == b.check_sni && text(a.ech) == text(b.ech) && a.contact == b.contact &&
         a.strip_request_headers == b.strip_request_headers &&
         a.max_connections == b.max_connections && a.requests_per_second == b.requests_per_second &&
         a.expires == b.expires && a.private_exceptions.size() == b.private_exceptions.size();
}

}  // namespace

std::vector<AgentChange> compare(const Entries& before, const Entries& now) {
  std::vector<AgentChange> changes;
  Comparison comparison;
  for (const auto& [id, entry] : now) {
    AgentChange change{id, 0, 0};
    const auto found = before.find(id);
    if (found == before.end()) {
      change.added = rules_of(*entry->policy);
    } else {
      const acl::AgentPolicy& old = *found->second->policy;
      comparison.compare(old.allow, entry->policy->allow, change);
      comparison.compare(old.deny, entry->policy->deny, change);
      if (change.added == 0 && change.removed == 0 &&
          found->second->identity.entry == entry->identity.entry &&
          same_defaults(old, *entry->policy)) {
        continue;
      }
    }
    changes.push_back(std::move(change));
  }
  for (const auto& [id, entry] : before) {
    if (now.count(id) == 0) changes.push_back({id, 0, rules_of(*entry->policy)});
  }
  return changes;
}

std::string describe(const std::vector<AgentChange>& changes, std::size_t most) {
  if (changes.empty()) return "nothing changed";
  std::string text;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (i > 0) text += ", ";
    if (i == most) return text + "and " + std::to_string(changes.size() - most) + " more";
    text += changes[i].agent + " +" + std::to_string(changes[i].added) + " -" +
            std::to_string(changes[i].removed);
  }
  return text;
}

}  // namespace stile::control
