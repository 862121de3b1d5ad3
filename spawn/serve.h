// serve: the program stile-spawner, put together.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace stile::spawn {

inline constexpr const char* default_config = "/etc/stile/spawner.toml";
inline constexpr const char* default_socket = "/run/agent-spawner/spawner.sock";

struct SpawnerOptions {
  std::optional<std::string> config;  // unset: the default, which may be missing
  std::string socket = default_socket;
  std::string state = "/run/agent-spawner/workers";
  std::string log = "/var/log/agent-spawner/audit.jsonl";
};

// Reads the config and reports its errors.
[[nodiscard]] Result<void> check(const SpawnerOptions& options);

// Until SIGTERM. SIGHUP reads the config again; one with an error changes nothing.
[[nodiscard]] Result<void> serve(const SpawnerOptions& options);

}  // namespace stile::spawn
