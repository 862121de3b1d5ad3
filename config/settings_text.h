// settings_text: writes a config as one stile.toml that needs no other file.
#pragma once

#include <string>

#include "config/load.h"

namespace stile::config {

// Agent cards become [[agent]] entries after those of stile.toml; list files become patterns.
[[nodiscard]] std::string settings_text(const Loaded& loaded);

}  // namespace stile::config
