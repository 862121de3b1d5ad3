// load: reads and checks everything that makes up a policy.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "config/card_directories.h"
#include "config/diagnostics.h"
#include "config/fleet_layer.h"
#include "config/list_file_cache.h"
#include "config/settings.h"

namespace stile::config {

inline constexpr const char* default_path = "/etc/stile/stile.toml";

struct Loaded {
  Settings settings;  // with the agents of stile.toml
  Cards cards;
  ListFileCache lists;
  Claims claims;       // ids, sources and listeners in use, for agents that are added later
  uid_t owner = 0;     // files of this user and of root are trusted
  std::string digest;  // SHA-256 over all files that were read
};

// Parses the text of a stile.toml. Does not read the files that it names.
[[nodiscard]] Checked<Settings> parse_settings(std::string_view text, const std::string& file);

// Loads a config that needs no other file, as settings_text writes it. Does not read directories of
// cards.
[[nodiscard]] Checked<Loaded> load_text(std::string_view text, const std::string& file);

// Reads a config and all files that it names. An error in any of them refuses the whole config; an
// invalid card is only added to the rejected cards. The policies of a fleet are laid below it.
[[nodiscard]] Checked<Loaded> load(const std::string& path, const FleetLayer& fleet = {});

// Without a path: default_path if it exists, else the embedded default.
[[nodiscard]] Checked<Loaded> load_or_default(const std::optional<std::string>& path,
                                              const FleetLayer& fleet = {});

}  // namespace stile::config
