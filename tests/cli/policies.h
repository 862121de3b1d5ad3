// Policies for tests: agents with the patterns that a test names.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "acl/policy.h"

namespace stile::cli {

struct TestAgent {
  std::string id;
  std::vector<std::string> allow;
  std::string source = "10.9.0.1/32";
  acl::Mode mode = acl::Mode::enforce;
  std::vector<std::string> deny{};
};

inline acl::Rules rules_of(const std::vector<std::string>& patterns) {
  acl::RuleSet::Builder builder{"test"};
  std::uint32_t line = 0;
  for (const auto& pattern : patterns) {
    if (!builder.add_text(pattern, ++line)) std::abort();
  }
  return {{std::move(builder).build()}, nullptr};
}

inline std::shared_ptr<const acl::Snapshot> snapshot_of(const std::vector<TestAgent>& agents) {
  std::vector<std::shared_ptr<const acl::AgentPolicy>> policies;
  for (std::size_t i = 0; i < agents.size(); ++i) {
    auto policy = std::make_shared<acl::AgentPolicy>();
    policy->id = agents[i].id;
    if (i == 0) policy->sources = {*acl::Prefix::parse(agents[i].source)};
    policy->mode = agents[i].mode;
    policy->allow = rules_of(agents[i].allow);
    policy->deny = rules_of(agents[i].deny);
    policies.push_back(std::move(policy));
  }
  return std::make_shared<const acl::Snapshot>(1, std::move(policies));
}

}  // namespace stile::cli
