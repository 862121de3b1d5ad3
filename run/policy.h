// policy: from flags, a card and a config to the one agent that `stile run` serves.
#pragma once

#include <memory>
#include <string>

#include "config/diagnostics.h"
#include "control/base.h"
#include "run/options.h"

namespace stile::run {

// The agent's id when no card says another one.
inline constexpr const char* default_agent = "run";

struct Policy {
  std::string agent;
  control::BasePtr base;  // with that agent and no other
};

// Without a config all settings have their defaults: the host's own stile.toml is for its daemon.
[[nodiscard]] config::Checked<Policy> make_policy(const Options& options);

}  // namespace stile::run
