// Expressions of squid.conf (POSIX extended) as RE2 reads them.
#pragma once

#include <string_view>

#include "acl/pattern.h"
#include "acl/result.h"

namespace stile::squid {

// A pattern for the whole name that means the same as `text` found anywhere in it. What the two
// languages read differently is refused: a rule must not mean another thing here than in squid.
[[nodiscard]] Result<acl::Pattern> translate_regex(std::string_view text, bool ignore_case);

}  // namespace stile::squid
