// LiveChanges: what is in force beside the files.
#include "control/live_changes.h"

#include <algorithm>

namespace stile::control {
namespace {

void add_patterns(std::vector<config::PlacedPattern>& list,
                  const std::vector<acl::Pattern>& patterns) {
  for (const auto& pattern : patterns) list.push_back({pattern});
}

void change_agent(config::AgentSettings& agent, const AgentOverlay& overlay, UnixMicros now) {
  if (overlay.mode) agent.mode = overlay.mode;
  for (const auto& grant : overlay.grants) {
    if (!grant.expires || *grant.expires > now) add_patterns(agent.allow, grant.hosts);
  }
  add_patterns(agent.deny, overlay.denied);
}

}  // namespace

LiveChanges live_changes(const LivePolicy& policy) {
  LiveChanges live{policy.set_mode(), policy.overlays(), {}};
  for (const auto& [id, running] : policy.agents()) {
    if (policy.is_put(id)) live.put.push_back(running.entry->settings);
  }
  return live;
}

void write_into(config::Loaded& loaded, const LiveChanges& live, UnixMicros now) {
  auto& cards = loaded.cards.accepted;
  for (const auto& agent : live.put) {
    const auto has_id = [&](const config::AgentSettings& one) { return one.id == agent.id; };
    const auto& written = loaded.settings.agent;
    if (std::none_of(cards.begin(), cards.end(), has_id) &&
        std::none_of(written.begin(), written.end(), has_id)) {
      cards.push_back(agent);
    }
  }
  auto& egress = loaded.settings.egress;
  if (live.mode) egress.mode = *live.mode;
  const auto change_all = [&](std::vector<config::AgentSettings>& agents) {
    for (auto& agent : agents) {
      for (const auto& grant : egress.fleet_grants) {
        if (grant.agent != agent.id || grant.expires <= now) continue;
        agent.allow.insert(agent.allow.end(), grant.hosts.begin(), grant.hosts.end());
      }
      const auto overlay = live.overlays.find(agent.id);
      if (overlay != live.overlays.end()) change_agent(agent, *overlay->second, now);
    }
  };
  change_all(loaded.settings.agent);
  change_all(cards);
}

}  // namespace stile::control
