// compile: turns settings into policies.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "acl/policy.h"
#include "acl/regex_set.h"
#include "config/capability.h"
#include "config/diagnostics.h"
#include "config/load.h"
#include "config/scans.h"
#include "config/secrets.h"

namespace stile::config {

using RuleSets = std::vector<std::shared_ptr<const acl::RuleSet>>;

// Compiles the regexes of the same lists only once. Keeps only those that a policy still uses.
class RegexCache {
 public:
  Result<std::shared_ptr<const acl::RegexSet>> get(const RuleSets& sets);

 private:
  std::map<acl::RegexSet::Key, std::weak_ptr<const acl::RegexSet>> sets_;
};

// The parts that the policies of all agents share. Callers that change single agents later keep it,
// so that a new agent compiles only its own part. Not thread-safe.
struct SharedParts {
  std::string file;  // of the config
  EgressSettings egress;
  LimitSettings limits;
  ListFileCache lists;
  Secrets secrets;
  CapabilityFiles capabilities;
  Scans scans;
  RuleSets deny;  // the global ones: of [egress], then of its files
  RegexCache regexes;
};
[[nodiscard]] SharedParts share(const Loaded& loaded);

// The policy of one agent: the defaults of [egress] and [limits], replaced by its own keys (lists
// as a whole), plus the global deny lists and forbidden addresses. Reads files that were not read
// yet.
[[nodiscard]] Checked<std::shared_ptr<const acl::AgentPolicy>> compile_agent(
    const AgentSettings& agent, SharedParts& shared);

// All agents of stile.toml and of the cards. If the policy of a card cannot be compiled, the card
// is rejected; for an agent of stile.toml the whole config is refused.
[[nodiscard]] Checked<std::vector<std::shared_ptr<const acl::AgentPolicy>>> compile_all(
    Loaded& loaded, SharedParts& shared);

// An agent's own mode replaces the global one, except that offline in either place wins.
[[nodiscard]] acl::Mode effective_mode(acl::Mode global, std::optional<acl::Mode> own) noexcept;

}  // namespace stile::config
