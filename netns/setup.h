// Setup: what stile-netns needs of stile.toml, and which agents the daemon knows without us.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "acl/result.h"
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

// Reads the file, or the default one if it is there, else all defaults. Not the lists and cards:
// they would make each `create` slower with every agent that there is.
[[nodiscard]] Result<Setup> read_setup(const std::optional<std::string>& path);

// What the agents' proxy variables say.
[[nodiscard]] std::string proxy_url(const config::NetnsSettings& settings);

// An agent that the operator bound to its sources: in stile.toml, or by a card in a directory other
// than ours. The daemon knows it already, and would refuse a second card of that id.
struct KnownAgent {
  std::string id;
  std::vector<acl::Prefix> source;
  std::string file;  // where it stands
};
[[nodiscard]] std::vector<KnownAgent> known_agents(const Setup& setup);

}  // namespace stile::netns
