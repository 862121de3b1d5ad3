// settings_text: writes a config as one stile.toml that needs no other file.
#include "config/settings_text.h"

#include "config/schema.h"

namespace stile::config {
namespace {

template <class Owner>
void append_key(std::string& out, const Key<Owner>& key, const Owner& owner) {
  const auto value = key.print(owner);
  if (!value.empty()) out.append(key.name).append(" = ").append(value) += '\n';
}

void take_in(std::vector<PlacedPattern>& into, std::vector<std::string>& files,
             const ListFileCache& lists) {
  for (const auto& file : files) {
    const auto found = lists.all().find(file);
    if (found == lists.all().end() || !found->second) continue;
    const auto& rules = **found->second;
    for (std::uint32_t i = 0; i < rules.size(); ++i) {
      auto pattern = acl::Pattern::parse(acl::RuleRef{&rules, i}.pattern());
      if (pattern) into.push_back({std::move(*pattern), 0});
    }
  }
  files.clear();
}

}  // namespace

std::string settings_text(const Loaded& loaded) {
  std::string out;
  auto settings = loaded.settings;
  take_in(settings.egress.deny, settings.egress.deny_files, loaded.lists);
  for (auto& deny : settings.egress.fleet_deny) {
    for (auto& placed : deny.patterns) settings.egress.deny.push_back(std::move(placed));
  }
  for (const auto& section : sections()) {
    out.append("[").append(section.name) += "]\n";
    for (const auto& key : global_keys()) {
      if (key.section == section.name) append_key(out, key, settings);
    }
    out += '\n';
  }
  for (const auto& secret : settings.secret) {
    out += "[[secret]]\n";
    for (const auto& key : secret_keys()) append_key(out, key, secret);
    out += '\n';
  }
  for (const auto* agents : {&loaded.settings.agent, &loaded.cards.accepted}) {
    for (auto agent : *agents) {
      take_in(agent.allow, agent.allow_files, loaded.lists);
      take_in(agent.deny, agent.deny_files, loaded.lists);
      out += "[[agent]]\n";
      for (const auto& key : agent_keys()) append_key(out, key, agent);
      out += '\n';
    }
  }
  return out;
}

}  // namespace stile::config
