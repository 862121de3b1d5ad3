// The account that stile-squid runs under when root starts it.
#pragma once

#include <string>

#include "squid/conf.h"

namespace stile::squid {

// cache_effective_user, or the first of proxy, squid and nobody that exists.
[[nodiscard]] std::string account_of(const Conf& conf);

// An error if cache_effective_group is not the group of that account: it could not be applied.
[[nodiscard]] Result<void> check_group(const Conf& conf);

}  // namespace stile::squid
