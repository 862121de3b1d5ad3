// Warnings about the patterns of one list.
#pragma once

#include "acl/rule_set.h"
#include "config/diagnostics.h"

namespace stile::config {

// In deny lists a bare pattern covers every port and scheme; in allow lists, those of the agent.
enum class ListRole : std::uint8_t { allow, deny };

// A rule of `among` that covers everything that `rule` covers, or no rule. A rule does not cover
// itself.
[[nodiscard]] acl::RuleRef find_cover(const acl::RuleRef& rule, const acl::RuleSet& among,
                                      ListRole role);

// Patterns that may allow more than intended: `*`, and everything below a name under which anyone
// can register a name.
void warn_of_wide_rules(const acl::RuleSet& rules, Diagnostics& warnings);

// Patterns that another pattern of the same list already covers.
void warn_of_dead_rules(const acl::RuleSet& rules, ListRole role, Diagnostics& warnings);

}  // namespace stile::config
