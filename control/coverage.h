// Coverage: how patterns and lists relate to each other, for grants and revocations.
#pragma once

#include <optional>
#include <string>

#include "acl/policy.h"

namespace stile::control {

// Whether everything that `narrow` names is named by `wide` too. A regex covers only itself.
[[nodiscard]] bool covers(const acl::Pattern& wide, const acl::Pattern& narrow);

// The deny rule ("deny regexes" if it is one of those) because of which a grant for this pattern
// could open nothing at all.
[[nodiscard]] std::optional<std::string> denied_wholly(const acl::Rules& deny,
                                                       const acl::Pattern& pattern);

// Whether a list lets through anything that the pattern names. Regexes and patterns that cannot be
// compared count as yes: what is revoked must be gone.
[[nodiscard]] bool allows_any_of(const acl::Rules& allow, const acl::Pattern& pattern);

}  // namespace stile::control
