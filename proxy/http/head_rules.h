// What the fields of one head mean together: host, framing, persistence. Pure; internal to
// proxy/http.
#pragma once

#include <cstddef>
#include <string_view>

#include "proxy/http/head.h"

namespace stile::http {

struct RuleBreak {
  std::string_view error;  // empty: none
  std::size_t field = 0;   // index of the field; 0 if one is missing
};

// Fill in the derived members from the fields and the first line.
[[nodiscard]] RuleBreak apply_request_rules(RequestHead& head) noexcept;
[[nodiscard]] RuleBreak apply_response_rules(ResponseHead& head, bool head_request) noexcept;

}  // namespace stile::http
