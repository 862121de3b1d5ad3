// inspect: how much of an agent is there.
#pragma once

#include <string>

#include "acl/result.h"
#include "netns/host.h"
#include "netns/plan.h"

namespace stile::netns {

inline std::string card_name(std::string_view id) { return std::string{id} + ".json"; }

// Looks at everything that the record says should be there.
[[nodiscard]] Result<AgentState> inspect(Host& host, const Record& record);

}  // namespace stile::netns
