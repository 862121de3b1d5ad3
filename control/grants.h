// Grants: what `allow` and `revoke` make of an agent's overlay.
#pragma once

#include <string>
#include <vector>

#include "control/overlay.h"
#include "control/protocol.h"
#include "control/request.h"

namespace stile::control {

inline constexpr std::size_t max_grants_per_agent = 256;
inline constexpr std::size_t max_denied_per_agent = 4096;

// Who asks, when, and the id for what is made.
struct Asked {
  std::string actor;
  acl::UnixMicros now = 0;
  std::string id;
};

// `entry` is the agent's policy without the overlay. Hosts that were revoked are no longer so; a
// grant that a deny rule would make worthless is refused.
[[nodiscard]] Outcome<AgentOverlay> allow(const acl::AgentPolicy& entry,
                                          const AgentOverlay& overlay, const Request& request,
                                          const Asked& asked);

struct Revocation {
  AgentOverlay overlay;
  std::vector<std::string> ended;   // grants that are gone as a whole
  std::vector<std::string> denied;  // patterns that are denied from now on
};
[[nodiscard]] Outcome<Revocation> revoke(const acl::AgentPolicy& entry, const AgentOverlay& overlay,
                                         const Request& request);

// Without the grants that have run out at this time; their ids go to `ended`.
[[nodiscard]] AgentOverlay without_expired(const AgentOverlay& overlay, acl::UnixMicros now,
                                           std::vector<std::string>& ended);

}  // namespace stile::control
