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

struct Permission {
  AgentOverlay overlay;
  std::vector<std::string> restored;  // revocations that are taken back
  bool is_granted = false;            // there is a grant with the id that was asked for
};
// `entry` is the agent's policy without the overlay. A host that was revoked although the policy
// (or a wider grant) allows it is restored: the revocation goes, and no grant is made that would
// outlive the rule. The limits of the request do not hold for it, as they do not for anything that
// the policy allows. All other hosts get a grant; one that a deny rule would make worthless is
// refused.
[[nodiscard]] Outcome<Permission> allow(const acl::AgentPolicy& entry, const AgentOverlay& overlay,
                                        const Request& request, const Asked& asked);

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
