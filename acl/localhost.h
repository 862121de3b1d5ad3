// localhost: names of the host that asks, and whether an agent may reach that host at all.
#pragma once

#include <string_view>

#include "acl/policy.h"

namespace stile::acl {

// `localhost` and all names below it lead to the loopback of the host that looks them up (RFC 6761
// section 6.3). Takes a canonical name.
[[nodiscard]] bool is_localhost(std::string_view name) noexcept;

// Whether a private exception opens an address of the loopback. If not, no rule can allow
// localhost.
[[nodiscard]] bool reaches_loopback(const AgentPolicy& agent) noexcept;

}  // namespace stile::acl
