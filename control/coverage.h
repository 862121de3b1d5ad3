// Coverage: compares patterns and lists, for grants and revocations.
#pragma once

#include <optional>
#include <string>

#include "acl/policy.h"

namespace stile::control {

// Whether `wide` covers everything that `narrow` covers. A regex covers only itself.
[[nodiscard]] bool covers(const acl::Pattern& wide, const acl::Pattern& narrow);

// The deny rule ("deny regexes" if it is one of those) that makes a grant for this pattern useless.
[[nodiscard]] std::optional<std::string> denied_wholly(const acl::Rules& deny,
                                                       const acl::Pattern& pattern);

// Whether a list allows anything that the pattern covers. Regexes and patterns that cannot be
// compared count as yes: a revocation must be complete.
[[nodiscard]] bool allows_any_of(const acl::Rules& allow, const acl::Pattern& pattern);

}  // namespace stile::control
