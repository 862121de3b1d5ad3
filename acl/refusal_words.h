// refusal_words: for every reason, why a request is refused and what to do about it.
#pragma once

#include <string_view>

#include "acl/decision.h"

namespace stile::acl {

struct RefusalWords {
  std::string_view verb;    // what Stile did: "refused", "could not reach"
  std::string_view cause;   // continues "Stile refused NAME for agent ID: "
  std::string_view remedy;  // follows a semicolon; addressed to the client
};
[[nodiscard]] RefusalWords refusal_words(Reason reason) noexcept;

}  // namespace stile::acl
