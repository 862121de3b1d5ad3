// Refusal: the answer to a request that was not let through. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "acl/decision.h"
#include "acl/pattern.h"

namespace stile::session {

struct Refusal {
  acl::Reason reason = acl::Reason::internal_error;
  std::string_view agent;  // "-" for nobody
  std::string_view host;   // canonical, or as sent if it was not understood
  std::uint16_t port = 0;
  acl::Scheme scheme = acl::Scheme::tunnel;
  std::string_view contact;
  bool takes_grants = true;  // false: its rules are an ordered list, which nobody can add to
  bool keep_alive = false;
  bool is_head = false;  // the answer to HEAD has no body
};

// The whole answer. Nothing of the request but its host and port is in it, and nothing of any
// policy.
[[nodiscard]] std::string write_refusal(const Refusal& refusal);

// "stile allow alpha example.com": what would let it through; empty where no grant could.
[[nodiscard]] std::string allow_hint(const Refusal& refusal);

}  // namespace stile::session
