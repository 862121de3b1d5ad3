// inspect: finds which parts of an agent exist.
#pragma once

#include <string>

#include "base/result.h"
#include "netns/host.h"
#include "netns/plan.h"

namespace stile::netns {

inline std::string card_name(std::string_view id) { return std::string{id} + ".json"; }

// Checks everything that should exist according to the record.
[[nodiscard]] Result<AgentState> inspect(FenceHost& host, const FenceRecord& record);

}  // namespace stile::netns
