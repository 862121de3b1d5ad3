// Public suffixes: names like com, co.uk or github.io, below which anyone can register a name.
#pragma once

#include <string>

namespace stile::config {

// Uses the list of the system. For warnings only: the list gets outdated, so no decision depends on
// it.
[[nodiscard]] bool is_public_suffix(const std::string& name);

}  // namespace stile::config
