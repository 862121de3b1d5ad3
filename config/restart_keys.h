// RestartKeys: the keys that only a restart applies, with the values that the daemon started with.
#pragma once

#include <map>
#include <string>

#include "config/diagnostics.h"
#include "config/load.h"

namespace stile::config {

// Never changes, so that any thread may ask it.
class RestartKeys {
 public:
  explicit RestartKeys(const Loaded& started);

  // An error for each key of stile.toml, its agents included, whose value is another now.
  [[nodiscard]] Diagnostics changed(const Settings& now) const;
  // The same for one agent. One that was not there at the start has the defaults.
  [[nodiscard]] Diagnostics changed(const AgentSettings& now) const;

 private:
  Settings started_;
  std::map<std::string, AgentSettings> agents_;
};

}  // namespace stile::config
