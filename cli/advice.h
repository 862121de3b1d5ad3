// advice: the command that an operator types next after a refusal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "acl/pattern.h"

namespace stile::cli {

// What was refused. The host may be anything that an agent sent.
struct Refused {
  std::string_view reason;  // reason code
  std::string agent;        // empty: nobody's
  acl::Scheme scheme = acl::Scheme::tunnel;
  std::string host;
  std::uint16_t port = 0;
};

// The pattern that covers just this: "example.com", "example.com:8443", "http://example.com".
[[nodiscard]] std::string pattern_for(acl::Scheme scheme, const std::string& host,
                                      std::uint16_t port);

// Empty if there is nothing to type. Nothing that needs quoting in a shell is ever part of it: an
// agent chooses the host, and the operator pastes.
[[nodiscard]] std::string advice_after(const Refused& refused);

}  // namespace stile::cli
