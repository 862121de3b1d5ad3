// to_toml: converts a squid.conf to a stile.toml with the same meaning.
#pragma once

#include <string>

#include "squid/conf.h"

namespace stile::squid {

// Returns the text, or every rule that cannot be converted.
[[nodiscard]] config::Checked<std::string> to_toml(const Conf& conf);

}  // namespace stile::squid
