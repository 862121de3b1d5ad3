// allowing_pattern: the narrowest pattern that would let a refused request through.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "acl/decision.h"
#include "acl/pattern.h"

namespace stile::acl {

// "example.com", "example.com:8443", "http://example.com", "tcp://example.com:22". Empty where no
// pattern helps. The host may be anything that an agent sent; the result is a valid exact pattern,
// so that nothing in it means anything to the shell it is pasted into.
[[nodiscard]] std::string allowing_pattern(Reason reason, Scheme scheme, std::string_view host,
                                           std::uint16_t port);

}  // namespace stile::acl
