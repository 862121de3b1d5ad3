// lint: finds settings that are valid but probably not intended. Only for people; the daemon does
// not use it.
#pragma once

#include <memory>
#include <vector>

#include "acl/policy.h"
#include "config/diagnostics.h"
#include "config/load.h"

namespace stile::config {

// `policies` are those of compile_all.
[[nodiscard]] Diagnostics lint(const Loaded& loaded,
                               const std::vector<std::shared_ptr<const acl::AgentPolicy>>& policies,
                               UnixMicros now);

}  // namespace stile::config
