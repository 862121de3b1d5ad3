// Setup: the parts of stile.toml that stile-netns needs, and the agents that the operator defined.
#include "netns/setup.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "base/files.h"
#include "config/card.h"
#include "config/cross_checks.h"
#include "config/load.h"
#include "config/settings_reader.h"
#include "config/toml_loader.h"
#include "config/trust.h"

namespace stile::netns {
namespace {

Result<config::Settings> read_settings(const std::string& path) {
  const auto opened = config::open_trusted(path, std::nullopt);
  if (!opened) return opened.error();
  const auto text = read_all(opened->file.get(), config::max_toml_bytes);
  if (!text) return text.error();
  const auto document = config::parse_toml(*text, path);
  if (!document) return Error{document.error().text()};
  config::Diagnostics problems;
  const auto directory = std::filesystem::path{path}.parent_path().string();
  auto settings = config::read_settings(*document, {problems, path, directory, {}});
  config::check_settings(settings, problems);
  if (problems.has_errors()) return Error{problems.text()};
  return settings;
}

// A card that cannot be read binds no agent: the daemon also refuses it, and reports why.
void add_cards(const std::string& directory, std::vector<KnownAgent>& known) {
  constexpr std::string_view suffix = ".json";
  const UniqueFd fd{::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!fd) return;
  const auto names = names_in(fd.get());
  if (!names) return;
  for (const auto& name : *names) {
    if (name.size() <= suffix.size() || !std::string_view{name}.ends_with(suffix)) continue;
    const auto file = directory + "/" + name;
    const auto opened = config::open_trusted(file, uid_t{0});
    const auto text =
        opened ? read_all(opened->file.get(), config::max_card_bytes) : opened.error();
    if (!text) continue;
    const auto card = config::parse_card(*text, {file, 0, directory});
    if (card) known.push_back({card->id, card->source, file});
  }
}

}  // namespace

Result<Setup> read_setup(const std::optional<std::string>& path) {
  Result<config::Settings> settings = config::Settings{};
  if (path) {
    settings = read_settings(*path);
  } else if (!is_missing(config::default_path)) {
    settings = read_settings(config::default_path);
  }
  if (!settings) return settings.error();
  const auto& netns = settings->netns;
  if (!netns.subnet.address.is_v4() || netns.subnet.length < 16 || netns.subnet.length > 30) {
    return Error{"netns.subnet " + netns.subnet.text() + ": expected is IPv4, /16 to /30"};
  }
  return Setup{netns, settings->server.state_dir, settings->server.control,
               settings->agents.directories, std::move(settings->agent)};
}

std::string proxy_url(const config::NetnsSettings& settings) {
  return "http://" + settings.gateway.text() + ":" + std::to_string(settings.port);
}

std::vector<KnownAgent> known_agents(const Setup& setup) {
  std::vector<KnownAgent> known;
  for (const auto& agent : setup.written) {
    known.push_back({agent.id, agent.source, agent.place.file});
  }
  for (const auto& directory : setup.card_directories) {
    if (std::filesystem::path{directory}.lexically_normal() !=
        std::filesystem::path{card_directory}) {
      add_cards(directory, known);
    }
  }
  return known;
}

}  // namespace stile::netns
