// Profile: what a known agent needs: hosts, files of its home, variables, secrets.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/diagnostics.h"
#include "config/launch.h"
#include "config/settings.h"

namespace stile::config {

struct Profile {
  std::string name, file, about;
  std::vector<PlacedPattern> allow;
  std::vector<std::string> can;          // capabilities
  std::vector<std::string> read, write;  // "~/…" or absolute; shown if they exist
  std::vector<Variable> environment;
  // Their value is that of the caller's variable `agent_env`, else of `file`: "~/…" or absolute.
  std::vector<SecretSettings> secrets;
  // For hosts of these secrets, if the secret is used: only then requests are seen.
  std::vector<RequestSettings> requests;
  std::vector<PlacedPattern> harmless;  // asked for and refused without harm to the agent
};

// Whether this can be the name of a profile; it becomes part of a path.
[[nodiscard]] bool is_profile_name(std::string_view name) noexcept;

[[nodiscard]] Checked<Profile> parse_profile(std::string_view text, const std::string& name,
                                             const std::string& file);

// The first file NAME.toml of these directories, or an error that names all of them. The file must
// be trusted, see trust.h.
[[nodiscard]] Checked<Profile> load_profile(const std::string& name,
                                            const std::vector<std::string>& directories);

// Whether one of them has such a file.
[[nodiscard]] bool has_profile(const std::string& name,
                               const std::vector<std::string>& directories);

// The names in these directories, each once, sorted.
[[nodiscard]] std::vector<std::string> profile_names(const std::vector<std::string>& directories);

// $XDG_CONFIG_HOME/stile/profiles or ~/.config/stile/profiles, then $STILE_PROFILES or the
// installed ones.
[[nodiscard]] std::vector<std::string> profile_directories();

}  // namespace stile::config
