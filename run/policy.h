// policy: makes the one agent that `stile run` serves from flags, a card and a config.
#pragma once

#include <memory>
#include <string>

#include "config/diagnostics.h"
#include "control/base.h"
#include "run/options.h"

namespace stile::run {

// The agent's id if the card does not set one.
inline constexpr const char* default_agent = "run";

struct Policy {
  std::string agent;
  control::BasePtr base;  // with only that agent
};

// Without a config all settings have their defaults: the host's stile.toml is for its daemon.
[[nodiscard]] config::Checked<Policy> make_policy(const Options& options);

}  // namespace stile::run
