// rule_search: which rule of an agent's lists answers for a destination.
#pragma once

#include <cstdint>

#include "acl/policy.h"

namespace stile::acl {

// A name, a port and a way to get there.
struct Destination {
  const HostKey& key;
  Scheme scheme = Scheme::tunnel;
  std::uint16_t port = 0;
  bool is_listed = false;  // the port is in `ports` or `http_ports`, whichever the scheme needs
};

// When it is asked, and by whom: a request that a grant was charged for already names its lease.
struct Moment {
  UnixMicros now = 0;
  const Lease* charged = nullptr;
};

// What allows a destination. Nothing is found for a port that is neither listed nor carried by a
// pattern for the name.
struct AllowMatch {
  CoveringRule rule;
  const Grant* grant = nullptr;  // the rule is this grant's; the policy alone would refuse
  explicit operator bool() const noexcept { return static_cast<bool>(rule); }
};
[[nodiscard]] AllowMatch find_allow(const AgentPolicy& agent, const Destination& destination,
                                    const Moment& moment);

struct DenyMatch {
  bool is_denied = false;
  RuleRef rule;  // none if the regexes could not run, which denies too
};
[[nodiscard]] DenyMatch find_deny(const AgentPolicy& agent, const Destination& destination);

// Whether a pattern of the list covers a tunnel to the name and port. A regex that cannot run
// covers nothing.
[[nodiscard]] bool covers(const Rules& rules, const HostKey& key, std::uint16_t port);

// Whether a rule that covers the name has an underscore in its own text: only then was a name that
// is not LDH meant. A deny rule counts only where it denies, or it would open the name elsewhere.
[[nodiscard]] bool rule_names_underscore(const AgentPolicy& agent, const Destination& destination,
                                         const Moment& moment);

}  // namespace stile::acl
