// SpawnSettings: /etc/stile/spawner.toml. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/diagnostics.h"
#include "config/narrow.h"
#include "config/node.h"
#include "config/profile.h"

namespace stile::spawn {

// What the operator lets callers start.
struct Template {
  std::string name;
  config::Permissions permissions;  // of the agent, and its command, files, variables, limits
  config::Node card;                // the agent's keys, for its card
  std::vector<std::string> task;    // what a task starts; empty: no tasks
  std::uint32_t max_tasks = 1;      // at the same time
  std::int64_t ttl_seconds = 0;     // 0: no limit
  std::vector<std::string> narrow;  // the keys that a caller may narrow
};

struct SpawnSettings {
  std::uint32_t max_workers = 10;
  std::vector<std::string> allowed_workspaces{"/mnt/agents"};
  std::uint32_t spawn_cooldown_seconds = 5;
  std::vector<Template> templates;  // one of them is called "default"

  [[nodiscard]] const Template* find(std::string_view name) const;
};

using LoadProfile = std::function<config::Checked<config::Profile>(const std::string& name)>;

[[nodiscard]] config::Checked<SpawnSettings> parse_settings(std::string_view text,
                                                            const std::string& file,
                                                            const LoadProfile& load_profile);

// From the file, which must be trusted. A missing default file means default settings.
[[nodiscard]] config::Checked<SpawnSettings> load_settings(const std::string& path,
                                                           bool may_be_missing);

}  // namespace stile::spawn
