// The settings of a daemon that was started without any config file.
#pragma once

#include <string>

#include "config/settings.h"

namespace stile::config {

// Where a user's programs keep their things.
struct Surroundings {
  bool is_root = false;
  std::string runtime_dir;  // $XDG_RUNTIME_DIR; may be empty
  std::string state_home;   // $XDG_STATE_HOME, else $HOME/.local/state
};

// One agent `local` for whoever connects from this host, with a short allowlist.
[[nodiscard]] Settings embedded_default(const Surroundings& surroundings);
[[nodiscard]] Settings embedded_default();  // with those of this process

}  // namespace stile::config
