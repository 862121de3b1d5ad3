// Public suffixes: names like com, co.uk or github.io, below which anybody can have a name.
#pragma once

#include <string>

namespace stile::config {

// By the list that came with the system. For warnings only: the list ages, so nothing that is let
// through or refused depends on it.
[[nodiscard]] bool is_public_suffix(const std::string& name);

}  // namespace stile::config
