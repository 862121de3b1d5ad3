// remedy: what would let a refused request through, judged by the policy of its agent. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "acl/decision.h"
#include "acl/policy.h"

namespace stile::acl {

// The host can be anything that an agent sent.
struct RefusedRequest {
  Reason reason = Reason::internal_error;
  Scheme scheme = Scheme::tunnel;
  std::string_view host;
  std::uint16_t port = 0;
};

// At most one of the three is set. All are safe to paste into a shell, except for `denied_by`.
struct Remedy {
  std::string pattern;    // an allow rule with this pattern would help
  std::string imitated;   // the host looks like this allowed name: better check than allow it
  std::string denied_by;  // the pattern of a deny rule, which no allow rule beats
};

// Without an agent, the rules are unknown.
[[nodiscard]] Remedy remedy_for(const RefusedRequest& request, const AgentPolicy* agent);

// Why it was refused, in words: continues "Stile refused NAME: ". `fault` is what is malformed in a
// bad request, if known.
[[nodiscard]] std::string cause_of(Reason reason, const Remedy& remedy, std::string_view fault);

// What the client can do about it: follows the cause after a semicolon.
[[nodiscard]] std::string_view way_out(Reason reason, std::string_view fault) noexcept;

}  // namespace stile::acl
