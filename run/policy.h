// policy: compiles the one agent that `stile run` serves.
#pragma once

#include <string>

#include "config/diagnostics.h"
#include "control/file_policy.h"
#include "run/launch.h"

namespace stile::run {

struct Policy {
  std::string agent;
  control::FilePolicyPtr base;  // with only that agent
};

// Without a config all settings have their defaults: the host's stile.toml is for its daemon.
// Reads the values of secrets, but runs no commands for them if `runs_nothing`.
[[nodiscard]] config::Checked<Policy> make_policy(const Launch& launch, bool runs_nothing);

}  // namespace stile::run
