// Checks on settings that only show when several of them are seen together.
#pragma once

#include <map>
#include <string>

#include "config/diagnostics.h"
#include "config/settings.h"

namespace stile::config {

// What may belong to one agent only: ids, sources and listeners. The first to claim keeps them.
class Claims {
 public:
  // The daemon's own listeners are taken before any agent comes.
  void claim_server(const Settings& settings, Diagnostics& problems);
  // False, with the reasons in `problems`: something of it is taken, and nothing was claimed.
  bool claim(const AgentSettings& agent, Diagnostics& problems);
  // Gives back what an agent that was accepted had claimed.
  void release(const AgentSettings& agent);

 private:
  std::map<std::string, Place> ids_;
  std::map<acl::Prefix, std::string> sources_;    // to the agent's id
  std::map<std::string, std::string> listeners_;  // endpoint to whose it is
};

// Everything in stile.toml but the agents' claims.
void check_settings(const Settings& settings, Diagnostics& problems);

// One agent against the settings that it comes into.
void check_agent(const AgentSettings& agent, const NetnsSettings& netns, Diagnostics& problems);

}  // namespace stile::config
