// allowing_pattern: the narrowest pattern that would allow a refused request.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "acl/decision.h"
#include "acl/pattern.h"

namespace stile::acl {

// "example.com", "example.com:8443", "http://example.com", "tcp://example.com:22". Empty if no
// pattern helps. The host can be anything that an agent sent. The result is always a valid exact
// pattern, so it is safe to paste into a shell.
[[nodiscard]] std::string allowing_pattern(Reason reason, Scheme scheme, std::string_view host,
                                           std::uint16_t port);

}  // namespace stile::acl
