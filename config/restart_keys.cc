// RestartKeys: compares the values of a reload with those at the start of the daemon.
#include "config/restart_keys.h"

#include "config/schema.h"

namespace stile::config {
namespace {

constexpr auto needs_restart = "changed, but only a restart applies this";
constexpr auto what_to_do = "restart the daemon, or undo the change";

}  // namespace

RestartKeys::RestartKeys(const Loaded& started) : started_{started.settings} {
  started_.agent.clear();
  for (const auto* agents : {&started.settings.agent, &started.cards.accepted}) {
    for (const auto& agent : *agents) agents_.emplace(agent.id, agent);
  }
}

Diagnostics RestartKeys::changed(const Settings& now) const {
  Diagnostics problems;
  const auto complain = [&](std::string_view section, std::string_view name) {
    auto key = std::string{section} + '.' + std::string{name};
    const auto foreign = now.foreign_names.find(key);
    if (foreign != now.foreign_names.end()) key = foreign->second;
    problems.error(place_of(now.file, now.keys, section, name), std::move(key), needs_restart,
                   what_to_do);
  };
  for (const auto& key : global_keys()) {
    if (key.applies == Applies::restart && key.print(started_) != key.print(now)) {
      complain(key.section, key.name);
    }
  }
  // A logformat of squid.conf has no key of its own.
  if (started_.audit.lines != now.audit.lines) complain("audit", "format");
  for (const auto& agent : now.agent) problems.append(changed(agent));
  return problems;
}

Diagnostics RestartKeys::changed(const AgentSettings& now) const {
  static const AgentSettings defaults;
  const auto found = agents_.find(now.id);
  const AgentSettings& before = found == agents_.end() ? defaults : found->second;
  Diagnostics problems;
  for (const auto& key : agent_keys()) {
    if (key.applies != Applies::restart || key.print(before) == key.print(now)) continue;
    auto place = place_of(now.place.file, now.keys, key.section, key.name);
    if (place.line == 0) place = now.place;  // the key was removed
    problems.error(std::move(place), "agent." + std::string{key.name}, needs_restart, what_to_do);
  }
  return problems;
}

}  // namespace stile::config
