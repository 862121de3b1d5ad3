// nearest_name: the allowed name that somebody may have meant; for explanations only.
#pragma once

#include "acl/policy.h"

namespace stile::acl {

// A rule of the allow lists whose name is one or two slips of the keyboard away from the host (two
// only for longer names). No rule if there is none, or if it stands behind the first 20,000 rules.
[[nodiscard]] RuleRef nearest_name(const AgentPolicy& agent, std::string_view host);

}  // namespace stile::acl
