// Coverage: compares patterns and lists.
#include "control/coverage.h"

#include <algorithm>
#include <string_view>

#include "acl/regex_set.h"

namespace stile::control {
namespace {

using acl::Pattern;
using Kind = acl::Pattern::Kind;

bool is_below(std::string_view name, std::string_view parent) {
  return name.size() > parent.size() && name.ends_with(parent) &&
         name[name.size() - parent.size() - 1] == '.';
}

// Whether a name can match both patterns.
bool names_meet(Kind a, std::string_view a_name, Kind b, std::string_view b_name) {
  if (a == Kind::any || b == Kind::any || a == Kind::regex || b == Kind::regex) return true;
  if (a_name == b_name) {
    return a == b || a == Kind::suffix || b == Kind::suffix;
  }
  return (a != Kind::exact && is_below(b_name, a_name)) ||
         (b != Kind::exact && is_below(a_name, b_name));
}

bool same_way(Pattern::Reach a, Pattern::Reach b) {
  return (a == Pattern::Reach::http) == (b == Pattern::Reach::http);
}

// A bare deny rule for a name refuses everything there; any other refuses one port and scheme.
bool deny_reach_covers(const acl::Rule& deny, const Pattern& pattern) {
  if (deny.reach == Pattern::Reach::bare) return true;
  return pattern.reach != Pattern::Reach::bare && deny.port == pattern.port &&
         same_way(deny.reach, pattern.reach);
}

bool reach_meets(const acl::Rule& allow, const Pattern& pattern) {
  if (allow.reach == Pattern::Reach::bare || pattern.reach == Pattern::Reach::bare) return true;
  return allow.port == pattern.port && same_way(allow.reach, pattern.reach);
}

// Calls visit(rule, reference) for the rules of all lists until it returns true.
template <class Visit>
bool any_rule(const acl::Rules& rules, Visit&& visit) {
  for (const auto& set : rules.sets) {
    for (std::uint32_t i = 0; i < set->size(); ++i) {
      if (visit(set->rule(i), acl::RuleRef{set.get(), i})) return true;
    }
  }
  return false;
}

// The same for a single name, which large lists look up without a scan.
template <class Visit>
bool any_rule_for(const acl::Rules& rules, std::string_view name, Visit&& visit) {
  const acl::HostParse parsed = acl::parse_host(name);
  const acl::HostKey key{parsed.host};
  return std::any_of(rules.sets.begin(), rules.sets.end(), [&](const auto& set) {
    return set->visit(key, [&](const acl::CoveringRule& found) {
      return visit(found.rule(), acl::RuleRef{found});
    });
  });
}

}  // namespace

bool covers(const Pattern& wide, const Pattern& narrow) {
  if (!acl::covers_names(wide.kind, wide.name, narrow.kind, narrow.name)) return false;
  if (wide.reach == Pattern::Reach::bare) return true;
  return narrow.reach != Pattern::Reach::bare && wide.port == narrow.port &&
         same_way(wide.reach, narrow.reach);
}

std::optional<std::string> denied_wholly(const acl::Rules& deny, const Pattern& pattern) {
  std::optional<std::string> found;
  const auto decides = [&](const acl::Rule& rule, const acl::RuleRef& reference) {
    if (!acl::covers_names(rule.kind, reference.set->name(rule), pattern.kind, pattern.name) ||
        !deny_reach_covers(rule, pattern)) {
      return false;
    }
    found = reference.describe();
    return true;
  };
  if (pattern.kind == Kind::exact) {
    any_rule_for(deny, pattern.name, decides);
    if (!found && deny.regexes) {
      const auto match = deny.regexes->match(pattern.name);
      if (match.failed) found = "the deny regexes, which could not run";
      if (!match.rules.empty()) found = match.rules.front().describe();
    }
  } else {
    any_rule(deny, decides);
  }
  return found;
}

bool allows_any_of(const acl::Rules& allow, const Pattern& pattern) {
  const auto meets = [&](const acl::Rule& rule, const acl::RuleRef& reference) {
    return names_meet(rule.kind, reference.set->name(rule), pattern.kind, pattern.name) &&
           reach_meets(rule, pattern);
  };
  if (pattern.kind != Kind::exact) return any_rule(allow, meets);
  if (any_rule_for(allow, pattern.name, meets)) return true;
  if (!allow.regexes) return false;
  const auto match = allow.regexes->match(pattern.name);
  return match.failed || !match.rules.empty();
}

}  // namespace stile::control
