// The settings of a daemon that is started without a config file.
#pragma once

#include <string>

#include "config/settings.h"

namespace stile::config {

// The directories of a user's programs.
struct Surroundings {
  bool is_root = false;
  std::string runtime_dir;  // $XDG_RUNTIME_DIR; may be empty
  std::string state_home;   // $XDG_STATE_HOME, else $HOME/.local/state
};

// Where the entry of its agent is, for people.
inline constexpr const char* embedded_name = "embedded default";

// One agent `local` for all clients on this host, with a short allowlist.
[[nodiscard]] Settings embedded_default(const Surroundings& surroundings);
[[nodiscard]] Settings embedded_default();  // with the directories of this process

}  // namespace stile::config
