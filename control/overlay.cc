// Overlay: the changes made through the control socket, kept apart from the files.
#include "control/overlay.h"

#include <algorithm>

#include "acl/regex_set.h"
#include "config/compile.h"
#include "config/digest.h"
#include "config/schema.h"

namespace stile::control {
namespace {

std::shared_ptr<const acl::RuleSet> make_rules(const std::vector<acl::Pattern>& patterns,
                                               std::string source) {
  acl::RuleSet::Builder rules{std::move(source)};
  for (const auto& pattern : patterns) rules.add(pattern, 0);
  return std::move(rules).build();
}

// Put before the others, so that explanations name the latest change.
Result<void> add_denied(const std::vector<acl::Pattern>& patterns, acl::Rules& deny) {
  if (patterns.empty()) return {};
  auto rules = make_rules(patterns, "revoked through the control socket");
  const bool has_regexes = !rules->regexes().empty();
  deny.sets.insert(deny.sets.begin(), std::move(rules));
  if (!has_regexes) return {};
  auto regexes = acl::RegexSet::compile(deny.sets);
  if (!regexes) return regexes.error();
  deny.regexes = std::move(*regexes);
  return {};
}

}  // namespace

Result<void> make_grant(GrantState& grant) {
  grant.made.id = grant.id;
  grant.made.expires = grant.expires;
  grant.made.rules = make_rules(grant.hosts, "grant " + grant.id);
  auto regexes = acl::RegexSet::compile({grant.made.rules});
  if (!regexes) return regexes.error();
  grant.made.regexes = std::move(*regexes);
  if (!grant.made.lease) {
    grant.made.lease = std::make_shared<acl::Lease>();
    start_count(grant.made.lease->requests, grant.max_requests, 0);
    start_count(grant.made.lease->bytes_up, grant.bytes_up, 0);
  }
  return {};
}

std::uint64_t used_of(const std::optional<std::uint64_t>& total,
                      const acl::Allowance& left) noexcept {
  const std::int64_t rest = left.left();
  if (!total || rest < 0) return 0;
  const auto unused = static_cast<std::uint64_t>(rest);
  return *total > unused ? *total - unused : 0;
}

std::uint64_t recorded_of(const std::optional<std::uint64_t>& total,
                          const acl::Allowance& left) noexcept {
  if (!total) return 0;
  const std::int64_t recorded = static_cast<std::int64_t>(*total) - left.unrecorded();
  return recorded > 0 ? static_cast<std::uint64_t>(recorded) : 0;
}

void start_count(acl::Allowance& left, const std::optional<std::uint64_t>& total,
                 std::uint64_t used) noexcept {
  if (total) {
    left.lock(static_cast<std::int64_t>(*total) - static_cast<std::int64_t>(used));
  } else {
    left.set(acl::Allowance::unlimited);
  }
}

AgentIdentity identify(const config::AgentSettings& agent) {
  AgentIdentity identity;
  identity.instance = agent.instance;
  for (const auto& source : agent.source) identity.sources.push_back(source.text());
  std::sort(identity.sources.begin(), identity.sources.end());
  config::Digest digest;
  digest.add("instance", agent.instance);
  for (const auto& key : config::agent_keys()) {
    if (key.name != "expires") digest.add(key.name, key.print(agent));
  }
  identity.entry = digest.hex();
  return identity;
}

AgentOverlay inherit(const AgentOverlay& overlay, const std::optional<AgentIdentity>& before,
                     const std::optional<AgentIdentity>& after) {
  AgentOverlay next = overlay;
  const bool is_same_agent = before && after && before->is_same_agent(*after);
  const bool is_same_entry = is_same_agent && before->entry == after->entry;
  if (!is_same_agent) {
    next.grants.clear();
    if (next.mode != acl::Mode::offline) next.mode.reset();
  }
  if (!is_same_entry) next.denied.clear();
  return next;
}

Result<std::shared_ptr<acl::AgentPolicy>> lay_over(const acl::AgentPolicy& entry, acl::Mode global,
                                                   std::optional<acl::Mode> own,
                                                   const AgentOverlay* overlay) {
  auto policy = std::make_shared<acl::AgentPolicy>(entry);
  if (overlay != nullptr && overlay->mode) own = overlay->mode;
  policy->mode = config::effective_mode(global, own);
  if (overlay == nullptr) return policy;
  for (const auto& grant : overlay->grants) policy->grants.push_back(grant.made);
  if (auto done = add_denied(overlay->denied, policy->deny); !done) return done.error();
  return policy;
}

}  // namespace stile::control
