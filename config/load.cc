// load: reads and checks everything that makes up a policy.
#include "config/load.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/files.h"
#include "config/capability.h"
#include "config/embedded.h"
#include "config/settings_reader.h"
#include "config/toml_loader.h"
#include "config/trust.h"

namespace stile::config {
namespace {

// As much of the settings as can be read; nullopt: the text is not valid TOML.
std::optional<Settings> read_text(std::string_view text, const std::string& file,
                                  Diagnostics& problems, const FleetLayer& fleet = {}) {
  const auto document = parse_toml(text, file);
  if (!document) {
    problems.append(document.error());
    return std::nullopt;
  }
  const auto directory = std::filesystem::path{file}.parent_path().string();
  auto settings = read_settings(*document, {problems, file, directory, {}});
  lay_under(settings, fleet, problems);
  check_settings(settings, problems);
  return settings;
}

Claims claim_all(const Settings& settings, Diagnostics& problems) {
  Claims claims;
  claims.claim_server(settings, problems);
  for (const auto& agent : settings.agent) claims.claim(agent, problems);
  return claims;
}

void add_fleet(Digest& digest, const FleetLayer& fleet) {
  for (const auto& policy : fleet.policies) digest.add(policy.file(), policy.body);
}

// Reads all files that the settings name. `problems` holds the errors so far. Reads on after
// errors, so that all of them are reported together.
Checked<Loaded> complete(Settings settings, uid_t owner, Digest digest, Diagnostics problems) {
  ListFileCache lists{owner};
  auto claims = claim_all(settings, problems);
  lists.get_all(settings.egress.deny_files,
                place_of(settings.file, settings.keys, "egress", "deny_files"), "egress.deny_files",
                &digest, problems);
  for (const auto& agent : settings.agent) read_lists(agent, lists, &digest, problems);
  auto cards = read_cards(settings, owner, claims, lists, &digest);
  if (!cards) problems.append(cards.error());
  const auto uses_any = [](const std::vector<AgentSettings>& agents) {
    return std::any_of(agents.begin(), agents.end(),
                       [](const AgentSettings& agent) { return !agent.can.empty(); });
  };
  if (uses_any(settings.agent) || (cards && uses_any(cards->accepted))) {
    add_capability_files(capability_directories(), digest);
  }
  if (problems.has_errors()) {
    problems.sort();
    return problems;
  }
  return Loaded{std::move(settings), std::move(*cards), std::move(lists), std::move(claims), owner,
                digest.hex()};
}

}  // namespace

Checked<Settings> parse_settings(std::string_view text, const std::string& file) {
  Diagnostics problems;
  auto settings = read_text(text, file, problems);
  if (settings) claim_all(*settings, problems);
  problems.sort();
  if (problems.has_errors()) return problems;
  return std::move(*settings);
}

Checked<Loaded> load_text(std::string_view text, const std::string& file) {
  Diagnostics problems;
  Digest digest;
  digest.add(file, text);
  auto settings = read_text(text, file, problems);
  if (!settings) return problems;
  settings->agents.directories.clear();
  return complete(std::move(*settings), ::geteuid(), std::move(digest), std::move(problems));
}

Checked<Loaded> load(const std::string& path, const FleetLayer& fleet) {
  Diagnostics problems;
  const auto opened = open_trusted(path, std::nullopt);
  if (!opened) {
    problems.file_error(path, opened.error().message);
    return problems;
  }
  const auto text = read_all(opened->file.get(), max_toml_bytes);
  if (!text) {
    problems.file_error(path, text.error().message);
    return problems;
  }
  Digest digest;
  digest.add(path, *text);
  add_fleet(digest, fleet);
  auto settings = read_text(*text, path, problems, fleet);
  if (!settings) return problems;
  return complete(std::move(*settings), opened->status.st_uid, std::move(digest),
                  std::move(problems));
}

Checked<Loaded> load_or_default(const std::optional<std::string>& path, const FleetLayer& fleet) {
  if (path) return load(*path, fleet);
  // Skips the file only if it certainly does not exist: an unreadable one may forbid more.
  if (!is_missing(default_path)) return load(default_path, fleet);
  auto settings = embedded_default();
  Diagnostics problems;
  Digest digest;
  add_fleet(digest, fleet);
  lay_under(settings, fleet, problems);
  if (!fleet.policies.empty()) check_settings(settings, problems);
  return complete(std::move(settings), ::geteuid(), std::move(digest), std::move(problems));
}

}  // namespace stile::config
