// to_toml: a squid.conf as the stile.toml that means the same.
#pragma once

#include <string>

#include "squid/conf.h"

namespace stile::squid {

// Or every rule that has no such form.
[[nodiscard]] config::Checked<std::string> to_toml(const Conf& conf);

}  // namespace stile::squid
