// rule_diff: the differences in rules and settings between two policies, agent by agent.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "acl/policy.h"

namespace stile::cli {

struct ChangedSetting {
  std::string key, before, after;
};

struct AgentDiff {
  enum class Kind : std::uint8_t { added, removed, changed };
  std::string agent;
  Kind kind = Kind::changed;
  std::vector<std::string> allow_added, allow_removed;  // patterns, sorted
  std::vector<std::string> deny_added, deny_removed;
  std::vector<ChangedSetting> settings;
};

[[nodiscard]] std::string_view text(AgentDiff::Kind kind) noexcept;

// Agents without a difference are left out. The position of a rule does not matter.
[[nodiscard]] std::vector<AgentDiff> compare_rules(const acl::Snapshot& before,
                                                   const acl::Snapshot& after);

}  // namespace stile::cli
