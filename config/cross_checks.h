// Checks on settings that involve several keys.
#pragma once

#include <map>
#include <string>

#include "config/diagnostics.h"
#include "config/settings.h"

namespace stile::config {

// Ids, sources and listeners, which must be unique to one agent. The first to claim one keeps it.
class Claims {
 public:
  // Claims the daemon's own listeners before any agent.
  void claim_server(const Settings& settings, Diagnostics& problems);
  // False, with the reasons in `problems`: something is already taken, and nothing was claimed.
  bool claim(const AgentSettings& agent, Diagnostics& problems);
  // Releases the claims of an accepted agent.
  void release(const AgentSettings& agent);

 private:
  std::map<std::string, Place> ids_;
  std::map<acl::Prefix, std::string> sources_;    // to the agent's id
  std::map<std::string, std::string> listeners_;  // endpoint to its owner
};

// Checks everything in stile.toml except the agents' claims.
void check_settings(const Settings& settings, Diagnostics& problems);

// Checks one agent against the settings that it is added to.
void check_agent(const AgentSettings& agent, const NetnsSettings& netns, Diagnostics& problems);

}  // namespace stile::config
