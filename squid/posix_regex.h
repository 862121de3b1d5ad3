// Translates regexes of squid.conf (POSIX extended) to RE2.
#pragma once

#include <string_view>

#include "acl/pattern.h"
#include "base/result.h"

namespace stile::squid {

// A pattern for the whole name that matches where squid finds `text` anywhere in it. Refuses syntax
// that the two languages read differently: a rule must mean the same as in squid.
[[nodiscard]] Result<acl::Pattern> translate_regex(std::string_view text, bool ignore_case);

}  // namespace stile::squid
