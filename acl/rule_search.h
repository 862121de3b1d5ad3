// rule_search: finds the rule of an agent's lists that applies to a destination.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "acl/policy.h"

namespace stile::acl {

// A name, a port and a scheme.
struct Destination {
  const HostKey& key;
  Scheme scheme = Scheme::tunnel;
  std::uint16_t port = 0;
  bool is_listed = false;  // the port is in `ports` or `http_ports`, whichever the scheme needs
};

// The time of the request, and the lease if the request was already charged to a grant.
struct Moment {
  UnixMicros now = 0;
  const Lease* charged = nullptr;
};

// The rule that allows a destination. None for a port that is neither listed nor part of a pattern
// for the name.
struct AllowMatch {
  CoveringRule rule;
  const Grant* grant = nullptr;  // the rule belongs to this grant; the policy alone would refuse
  explicit operator bool() const noexcept { return static_cast<bool>(rule); }
};
[[nodiscard]] AllowMatch find_allow(const AgentPolicy& agent, const Destination& destination,
                                    const Moment& moment);

// The grant for exactly this request, if there is one.
[[nodiscard]] AllowMatch find_granted_request(const AgentPolicy& agent,
                                              const Destination& destination,
                                              std::string_view method, std::string_view path,
                                              const Moment& moment);

struct DenyMatch {
  bool is_denied = false;
  RuleRef rule;  // none if the regexes could not run, which also denies
};
[[nodiscard]] DenyMatch find_deny(const AgentPolicy& agent, const Destination& destination);

// Whether a pattern of the list covers a tunnel to the name and port. A regex that cannot run
// covers nothing.
[[nodiscard]] bool covers(const Rules& rules, const HostKey& key, std::uint16_t port);

// Calls visit(scheme, port) for every pattern with a port, of the allow lists and of grants in
// force, that covers the name. Stops and returns true when visit returns true.
[[nodiscard]] bool visit_carried_ports(const AgentPolicy& agent, const HostKey& key,
                                       const Moment& moment,
                                       const std::function<bool(Scheme, std::uint16_t)>& visit);

// Whether a rule that covers the name contains an underscore itself: only then is a name that is
// not LDH intended. A deny rule counts only where it denies; otherwise it would open the name
// elsewhere.
[[nodiscard]] bool rule_names_underscore(const AgentPolicy& agent, const Destination& destination,
                                         const Moment& moment);

}  // namespace stile::acl
