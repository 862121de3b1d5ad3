// load: everything that makes up a policy, read from disk and checked.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "config/cards.h"
#include "config/diagnostics.h"
#include "config/list_files.h"
#include "config/settings.h"

namespace stile::config {

inline constexpr const char* default_path = "/etc/stile/stile.toml";

struct Loaded {
  Settings settings;  // with the agents of stile.toml
  Cards cards;
  ListFiles lists;
  Claims claims;       // ids, sources and listeners that are taken, for agents that come later
  uid_t owner = 0;     // whose files are believed, beside root's
  std::string digest;  // SHA-256 over all that was read
};

// The text of a stile.toml alone; none of the files that it names is looked at.
[[nodiscard]] Checked<Settings> parse_settings(std::string_view text, const std::string& file);

// A config that needs no other file, as settings_text writes it; directories of cards are not read.
[[nodiscard]] Checked<Loaded> load_text(std::string_view text, const std::string& file);

// Reads a config and all that it names. An error in the file or in one that it names refuses the
// whole; a bad card is only among the rejected.
[[nodiscard]] Checked<Loaded> load(const std::string& path);

// Without a path: default_path if it is there, else the embedded default.
[[nodiscard]] Checked<Loaded> load_or_default(const std::optional<std::string>& path);

}  // namespace stile::config
