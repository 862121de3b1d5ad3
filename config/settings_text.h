// settings_text: a config written out as one stile.toml that needs no other file.
#pragma once

#include <string>

#include "config/load.h"

namespace stile::config {

// Agent cards stand as [[agent]] entries behind those of stile.toml; list files as patterns.
[[nodiscard]] std::string settings_text(const Loaded& loaded);

}  // namespace stile::config
