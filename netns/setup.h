// Setup: the parts of stile.toml that stile-netns needs, and the agents that the operator defined.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/settings.h"

namespace stile::netns {

inline constexpr const char* run_directory = "/run/stile";
inline constexpr const char* card_directory = "/run/stile/agents.d";

struct Setup {
  config::NetnsSettings netns;
  std::string state_dir;
  std::string control;
  std::vector<std::string> card_directories;   // all that the daemon reads
  std::vector<config::AgentSettings> written;  // the [[agent]] entries
};

// Reads the given file, or the default file if it exists, else uses all defaults. Skips the lists
// and cards: each `create` would become slower with every agent.
[[nodiscard]] Result<Setup> read_setup(const std::optional<std::string>& path);

// The value of the agents' proxy variables.
[[nodiscard]] std::string proxy_url(const config::NetnsSettings& settings);

// An agent that the operator bound to its sources: in stile.toml, or by a card in a directory other
// than ours. The daemon already knows it, and would refuse a second card with that id.
struct KnownAgent {
  std::string id;
  std::vector<acl::Prefix> source;
  std::string file;  // the file with its entry
};
[[nodiscard]] std::vector<KnownAgent> known_agents(const Setup& setup);

}  // namespace stile::netns
