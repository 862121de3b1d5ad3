// Short ways to write policies and requests in tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "acl/decide.h"
#include "acl/policy.h"

namespace stile::acl::test {

using Patterns = std::vector<std::string>;

inline Address address(std::string_view text) { return Address::parse(text).value(); }

inline Host host(std::string_view text) {
  const HostParse parse = parse_host(text);
  EXPECT_EQ(parse.kind, HostParse::Kind::name) << text;
  return parse.host;
}

// Line numbers count from 1, as if each pattern stood on its own line of `source`.
inline std::shared_ptr<const RuleSet> rule_set(const Patterns& patterns,
                                               std::string source = "list.txt") {
  RuleSet::Builder builder{std::move(source)};
  std::uint32_t line = 0;
  for (const auto& text : patterns) {
    const auto added = builder.add_text(text, ++line);
    EXPECT_TRUE(added) << text;
  }
  return std::move(builder).build();
}

inline Rules rules(const Patterns& patterns, std::string source = "list.txt") {
  Rules rules;
  rules.sets.push_back(rule_set(patterns, std::move(source)));
  const auto regexes = RegexSet::compile(rules.sets);
  EXPECT_TRUE(regexes);
  rules.regexes = *regexes;
  return rules;
}

inline AgentPolicy agent(const Patterns& allow, const Patterns& deny = {}) {
  AgentPolicy policy;
  policy.id = "alpha";
  policy.allow = rules(allow, "allow.txt");
  policy.deny = rules(deny, "deny.txt");
  return policy;
}

inline Grant grant(std::string id, const Patterns& patterns) {
  Grant grant;
  const Rules lists = rules(patterns, "grant " + id);
  grant.id = std::move(id);
  grant.rules = lists.sets.front();
  grant.regexes = lists.regexes;
  grant.lease = std::make_shared<Lease>();
  return grant;
}

inline Query query(const AgentPolicy& policy, std::string_view authority,
                   Scheme scheme = Scheme::tunnel) {
  Query query;
  query.agent = &policy;
  query.scheme = scheme;
  query.authority = split_authority(authority);
  return query;
}

inline Decision ask(const AgentPolicy& policy, std::string_view authority,
                    Scheme scheme = Scheme::tunnel) {
  return decide(query(policy, authority, scheme));
}

// "allow", "deny host-denied", "would-deny ip-literal"
inline std::string outcome(const Decision& decision) {
  std::string out{text(decision.verdict)};
  if (decision.reason != Reason::none) out += ' ' + std::string{text(decision.reason)};
  return out;
}

inline std::string answer(const AgentPolicy& policy, std::string_view authority,
                          Scheme scheme = Scheme::tunnel) {
  return outcome(ask(policy, authority, scheme));
}

}  // namespace stile::acl::test
