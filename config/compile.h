// compile: settings to the policies that decide.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "acl/policy.h"
#include "acl/regex_set.h"
#include "config/diagnostics.h"
#include "config/load.h"

namespace stile::config {

using RuleSets = std::vector<std::shared_ptr<const acl::RuleSet>>;

// Regexes compiled for the same lists are compiled once. Only those that some policy still uses are
// kept.
class RegexCache {
 public:
  Result<std::shared_ptr<const acl::RegexSet>> get(const RuleSets& sets);

 private:
  std::map<acl::RegexSet::Key, std::weak_ptr<const acl::RegexSet>> sets_;
};

// What the policies of all agents have in common. Kept by whoever changes single agents later, so
// that a new one costs only itself. Not for several threads at once.
struct Shared {
  std::string file;  // of the config
  EgressSettings egress;
  LimitSettings limits;
  ListFiles lists;
  RuleSets deny;  // the global ones: that of [egress], then its files
  RegexCache regexes;
};
[[nodiscard]] Shared share(const Loaded& loaded);

// The policy of one agent: the defaults of [egress] and [limits], replaced by its own keys, lists
// as a whole; the global deny lists and forbidden addresses added. Files that were not read yet are
// read.
[[nodiscard]] Checked<std::shared_ptr<const acl::AgentPolicy>> compile_agent(
    const AgentSettings& agent, Shared& shared);

// All agents of stile.toml and of the cards. A card whose policy cannot be made joins the rejected
// ones; for an agent of stile.toml that refuses the whole.
[[nodiscard]] Checked<std::vector<std::shared_ptr<const acl::AgentPolicy>>> compile_all(
    Loaded& loaded, Shared& shared);

// An agent's own mode replaces the global one, but offline anywhere wins.
[[nodiscard]] acl::Mode effective_mode(acl::Mode global, std::optional<acl::Mode> own) noexcept;

}  // namespace stile::config
