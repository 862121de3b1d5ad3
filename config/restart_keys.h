// RestartKeys: the keys that need a restart, with the values at the start of the daemon.
#pragma once

#include <map>
#include <string>

#include "config/diagnostics.h"
#include "config/load.h"

namespace stile::config {

// Immutable, so that any thread may use it.
class RestartKeys {
 public:
  explicit RestartKeys(const Loaded& started);

  // An error for each changed key of stile.toml, including the keys of its agents.
  [[nodiscard]] Diagnostics changed(const Settings& now) const;
  // The same for one agent. A new agent is compared with the defaults.
  [[nodiscard]] Diagnostics changed(const AgentSettings& now) const;

 private:
  Settings started_;
  std::map<std::string, AgentSettings> agents_;
};

}  // namespace stile::config
