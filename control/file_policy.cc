// FilePolicy: the compiled contents of all files.
#include "control/file_policy.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/unix_time.h"
#include "config/card.h"

namespace stile::control {
namespace {

EntryPtr make_entry(const config::AgentSettings& settings,
                    std::shared_ptr<const acl::AgentPolicy> policy) {
  return std::make_shared<const AgentEntry>(
      AgentEntry{settings, std::move(policy), identify(settings)});
}

// Pairs each agent's settings with its policy. An agent without settings (that of an ordered list)
// has only its policy.
Entries pair_up(const Reading& reading) {
  std::map<std::string, const config::AgentSettings*> settings;
  for (const auto* agents : {&reading.loaded.settings.agent, &reading.loaded.cards.accepted}) {
    for (const auto& agent : *agents) settings[agent.id] = &agent;
  }
  Entries entries;
  for (const auto& policy : reading.agents) {
    config::AgentSettings bare;
    bare.id = policy->id;
    bare.instance = policy->instance;
    bare.source = policy->sources;
    const auto found = settings.find(policy->id);
    entries.emplace(policy->id,
                    make_entry(found == settings.end() ? bare : *found->second, policy));
  }
  return entries;
}

}  // namespace

PolicyReader config_reader(std::optional<std::string> path) {
  return [path = std::move(path)](const config::FleetLayer& fleet) -> config::Checked<Reading> {
    auto loaded = config::load_or_default(path, fleet);
    if (!loaded) return loaded.error();
    auto shared = std::make_unique<config::SharedParts>(config::share(*loaded));
    auto agents = config::compile_all(*loaded, *shared);
    if (!agents) return agents.error();
    config::Diagnostics problems;
    shared->secrets.read_values(loaded->owner, unix_micros(), problems);
    if (problems.has_errors()) return problems;
    return Reading{std::move(*loaded), std::move(shared), std::move(*agents)};
  };
}

bool FilePolicy::opens_tunnels() const {
  return std::any_of(entries.begin(), entries.end(),
                     [](const auto& entry) { return entry.second->policy->inside != nullptr; });
}

config::Checked<FilePolicyPtr> read_file_policy(const PolicyReader& reader,
                                                const config::FleetLayer& fleet) {
  auto reading = reader(fleet);
  if (!reading) return reading.error();
  auto entries = pair_up(*reading);
  return std::make_unique<FilePolicy>(
      FilePolicy{std::move(reading->loaded), std::move(*reading->shared), std::move(entries)});
}

config::Checked<FilePolicyPtr> read_cards_again(FilePolicyPtr base) {
  config::Loaded& loaded = base->loaded;
  config::Diagnostics problems;  // none: this config was loaded before
  config::Claims claims;
  claims.claim_server(loaded.settings, problems);
  for (const auto& agent : loaded.settings.agent) claims.claim(agent, problems);
  base->shared.lists.forget_failures();
  base->shared.capabilities.forget_failures();
  auto cards = config::read_cards(loaded.settings, loaded.owner, claims, base->shared.lists);
  if (!cards) return cards.error();
  Entries entries;
  for (const auto& agent : loaded.settings.agent) {
    entries.emplace(agent.id, base->entries.at(agent.id));
  }
  std::vector<config::AgentSettings> accepted;
  for (auto& card : cards->accepted) {
    const auto old = base->entries.find(card.id);
    if (old != base->entries.end() && old->second->settings == card) {
      entries.emplace(card.id, old->second);
    } else {
      auto policy = config::compile_agent(card, base->shared);
      if (!policy) {
        claims.release(card);
        cards->rejected.push_back({card.place.file, card.id, policy.error()});
        continue;
      }
      entries.emplace(card.id, make_entry(card, std::move(*policy)));
    }
    accepted.push_back(std::move(card));
  }
  cards->accepted = std::move(accepted);
  loaded.cards = std::move(*cards);
  loaded.claims = std::move(claims);
  base->entries = std::move(entries);
  return base;
}

void refuse_restart_cards(FilePolicy& base, const config::RestartKeys& started) {
  auto& cards = base.loaded.cards;
  std::erase_if(cards.accepted, [&](const config::AgentSettings& card) {
    auto problems = started.changed(card);
    if (!problems.has_errors()) return false;
    base.loaded.claims.release(card);
    base.entries.erase(card.id);
    cards.rejected.push_back({card.place.file, card.id, std::move(problems)});
    return true;
  });
}

CardReading read_put_card(const PutCard& card, const config::Settings& settings,
                          config::Claims& claims, config::SharedParts& shared) {
  CardReading reading;
  auto agent = config::parse_card(card.text, {"put-agent", card.received, std::nullopt});
  if (!agent) {
    reading.problems = agent.error();
    return reading;
  }
  if (!agent->listen.empty()) {
    reading.problems.error(agent->place, "listen",
                           "works only in a file that is there at the start",
                           "hand the socket over with adopt-listener");
  }
  config::check_agent(*agent, settings.netns, reading.problems);
  auto policy = config::compile_agent(*agent, shared);
  if (!policy) reading.problems.append(policy.error());
  if (reading.problems.has_errors()) return reading;
  // Comes last, so that a card refused for another reason does not take anything from a valid card.
  if (!claims.claim(*agent, reading.problems)) {
    reading.is_taken = true;
    return reading;
  }
  reading.entry = make_entry(*agent, std::move(*policy));
  return reading;
}

}  // namespace stile::control
