// Cards: the agents in the directories of agent cards.
#include "config/card_directories.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/files.h"
#include "config/card.h"
#include "config/trust.h"

namespace stile::config {
namespace {

constexpr std::size_t max_cards = 65'536;

bool is_missing(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

// The names of the cards in a directory, sorted.
Result<std::vector<std::string>> card_names(const std::string& directory, uid_t owner) {
  const auto opened = open_trusted(directory, owner, FileKind::directory);
  if (!opened) return opened.error();
  auto names = names_in(opened->file.get());
  if (!names) return Error{directory + " cannot be read: " + names.error().message};
  std::erase_if(*names, [](const std::string& name) { return !name.ends_with(".json"); });
  if (names->size() > max_cards) return Error{directory + " has more than 65536 cards"};
  return names;
}

UnixMicros last_change(const struct stat& status) {
  return static_cast<UnixMicros>(status.st_mtim.tv_sec) * 1'000'000 +
         status.st_mtim.tv_nsec / 1'000;
}

// The shared state while all cards are read.
struct CardSource {
  const Settings& settings;
  uid_t owner;
  Claims& claims;
  ListFileCache& lists;
  Digest* digest;
};

void read_card(const std::string& directory, const std::string& name, const CardSource& from,
               Cards& cards) {
  const std::string path = directory + '/' + name;
  RejectedCard rejected{path, {}, {}};
  const auto refuse = [&](const std::string& message) {
    rejected.problems.file_error(path, message);
    cards.rejected.push_back(std::move(rejected));
  };
  const auto opened = open_trusted(path, from.owner);
  if (!opened) return refuse(opened.error().message);
  const auto text = read_all(opened->file.get(), max_card_bytes);
  if (!text) return refuse(text.error().message);
  if (from.digest != nullptr) from.digest->add(path, *text);

  auto agent = parse_card(*text, {path, last_change(opened->status), directory});
  if (!agent) {
    rejected.problems = agent.error();
  } else {
    check_agent(*agent, from.settings.netns, rejected.problems);
    read_lists(*agent, from.lists, from.digest, rejected.problems);
    // Comes last, so that a card refused for another reason does not take anything from a valid
    // card.
    if (!rejected.problems.has_errors() && from.claims.claim(*agent, rejected.problems)) {
      cards.accepted.push_back(std::move(*agent));
      return;
    }
  }
  rejected.id = card_id(*text);
  cards.rejected.push_back(std::move(rejected));
}

// An agent of a fleet's policy. It expires with its policy.
void read_fleet_agent(const FleetAgent& from, const CardSource& source, Cards& cards) {
  RejectedCard rejected{from.file, card_id(from.card), {}};
  auto agent = parse_card(from.card, {from.file, 0, std::nullopt, true});
  if (!agent) {
    rejected.problems = agent.error();
  } else {
    agent->expires = std::min(agent->expires.value_or(from.not_after), from.not_after);
    if (agent->bytes_up && from.exhausted_bytes >= *agent->bytes_up) {
      agent->bytes_up = std::min(*agent->bytes_up, from.slice_bytes);
    } else if (agent->bytes_up) {
      agent->bytes_up_slice = std::min(*agent->bytes_up, from.slice_bytes);
    }
    if (!agent->listen.empty()) {
      rejected.problems.error(agent->place, "listen", "works only in a file of this host");
    }
    check_agent(*agent, source.settings.netns, rejected.problems);
    read_lists(*agent, source.lists, nullptr, rejected.problems);
    if (!rejected.problems.has_errors() && source.claims.claim(*agent, rejected.problems)) {
      cards.accepted.push_back(std::move(*agent));
      return;
    }
  }
  cards.rejected.push_back(std::move(rejected));
}

}  // namespace

Checked<Cards> read_cards(const Settings& settings, uid_t config_owner, Claims& claims,
                          ListFileCache& lists, Digest* digest) {
  Cards cards;
  Diagnostics problems;
  for (const auto& directory : settings.agents.directories) {
    if (is_missing(directory)) continue;
    const auto names = card_names(directory, config_owner);
    if (!names) {
      problems.error(place_of(settings.file, settings.keys, "agents", "directories"),
                     "agents.directories", names.error().message);
      continue;
    }
    for (const auto& name : *names) {
      read_card(directory, name, {settings, config_owner, claims, lists, digest}, cards);
    }
  }
  // Last: an agent of this host's files keeps its id and its sources.
  for (const auto& agent : settings.fleet_agents) {
    read_fleet_agent(agent, {settings, config_owner, claims, lists, digest}, cards);
  }
  if (problems.has_errors()) return problems;
  return cards;
}

void read_lists(const AgentSettings& agent, ListFileCache& lists, Digest* digest,
                Diagnostics& problems) {
  const auto place = [&](std::string_view key) {
    return place_of(agent.place.file, agent.keys, "agent", key);
  };
  lists.get_all(agent.allow_files, place("allow_files"), "agent.allow_files", digest, problems);
  lists.get_all(agent.deny_files, place("deny_files"), "agent.deny_files", digest, problems);
}

}  // namespace stile::config
