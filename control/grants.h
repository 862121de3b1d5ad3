// Grants: how `allow` and `revoke` change an agent's overlay.
#pragma once

#include <string>
#include <vector>

#include "control/overlay.h"
#include "control/protocol.h"
#include "control/request.h"

namespace stile::control {

inline constexpr std::size_t max_grants_per_agent = 256;
inline constexpr std::size_t max_denied_per_agent = 4096;

// The caller, the time, and the id of a new grant.
struct Asked {
  std::string actor;
  UnixMicros now = 0;
  std::string id;
  std::optional<acl::GrantedRequest> only = std::nullopt;  // the grant is for this request alone
};

struct Permission {
  AgentOverlay overlay;
  std::vector<std::string> restored;  // revocations that were undone
  bool is_granted = false;            // a grant with the given id was made
};
// `entry` is the agent's policy without the overlay. If a host was revoked although the policy (or
// a wider grant) allows it, the revocation is removed and no grant is made, since a grant would
// outlive the rule. The limits of the request do not apply to such a host, as for anything that the
// policy allows. All other hosts get a grant. A grant that a deny rule makes useless is refused.
[[nodiscard]] Outcome<Permission> allow(const acl::AgentPolicy& entry, const AgentOverlay& overlay,
                                        const ControlRequest& request, const Asked& asked);

struct Revocation {
  AgentOverlay overlay;
  std::vector<std::string> ended;   // grants that ended completely
  std::vector<std::string> denied;  // patterns that are denied from now on
};
[[nodiscard]] Outcome<Revocation> revoke(const acl::AgentPolicy& entry, const AgentOverlay& overlay,
                                         const ControlRequest& request);

// Removes the grants that have expired at this time; adds their ids to `ended`.
[[nodiscard]] AgentOverlay without_expired(const AgentOverlay& overlay, UnixMicros now,
                                           std::vector<std::string>& ended);

}  // namespace stile::control
