// nearest_name: the allowed name that was probably meant; for explanations only.
#pragma once

#include "acl/policy.h"

namespace stile::acl {

// A rule of the allow lists whose name is one or two typing errors away from the host (two only for
// longer names). Returns no rule if there is none among the first 20,000 rules.
[[nodiscard]] RuleRef nearest_name(const AgentPolicy& agent, std::string_view host);

}  // namespace stile::acl
