// launch: combines flags, card, profile and restriction into what one command may do.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/diagnostics.h"
#include "config/narrow.h"
#include "config/settings.h"
#include "run/identity.h"
#include "run/options.h"

namespace stile::run {

// The agent's id if the card does not set one.
inline constexpr const char* default_agent = "run";

// Where a command with a card's workspace sees it.
inline constexpr const char* workspace_inside = "/workspace";

struct Launch {
  config::Settings settings;  // of --config, without agents; only the secrets that the agent uses
  config::Permissions permissions;  // workspace: the card's, else the working directory
  bool has_own_workspace = false;   // of a card
  Identity identity;
  std::string home;  // the command's HOME; "": unknown
  std::string card;  // its text; "": none
  // Values of secrets that come from variables of the caller, by the name of the secret. The others
  // of settings.secret have files.
  std::map<std::string, std::string> secret_values;
  bool is_connected = false;  // a daemon serves, with secrets of its own
  std::vector<config::PlacedPattern> harmless;
  std::vector<std::string> expose, command;
  std::vector<std::string> notices;  // for people
};

[[nodiscard]] config::Checked<Launch> prepare_launch(const Options& options,
                                                     const std::vector<std::string>& environment);

// The value of a variable, or "".
[[nodiscard]] std::string variable(const std::vector<std::string>& environment,
                                   std::string_view name);

}  // namespace stile::run
