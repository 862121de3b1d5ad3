// rule_diff: in which rules and settings two policies differ, agent by agent.
#pragma once

#include <string>
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

// Agents that differ in nothing are left out. Where a rule stands makes no difference.
[[nodiscard]] std::vector<AgentDiff> compare_rules(const acl::Snapshot& before,
                                                   const acl::Snapshot& after);

}  // namespace stile::cli
