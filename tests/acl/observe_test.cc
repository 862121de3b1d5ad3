// Observe mode: the policy's own refusals are recorded and let through, the others hold.
#include <gtest/gtest.h>

#include "acl/decide.h"
#include "tests/acl/policies.h"

namespace stile::acl {
namespace {

using test::agent;
using test::answer;
using test::ask;
using test::outcome;
using test::query;

AgentPolicy observed(const test::Patterns& allow, const test::Patterns& deny = {}) {
  AgentPolicy policy = agent(allow, deny);
  policy.mode = Mode::observe;
  return policy;
}

TEST(Observe, LetsPolicyRefusalsPassWithTheirReason) {
  const AgentPolicy policy = observed({"a.com"}, {"evil.com"});
  const struct {
    std::string_view authority, outcome;
  } cases[] = {
      {"a.com:443", "allow"},
      {"b.com:443", "would-deny host-not-allowed"},
      {"evil.com:443", "would-deny host-denied"},
      {"a.com:22", "would-deny port-not-allowed"},
      {"evil.com:22", "would-deny port-not-allowed"},  // the first of several
      {"8.8.8.8:443", "would-deny ip-literal"},
      {"8.8.8.8:22", "would-deny ip-literal"},
      {"[2606:4700::1]:443", "would-deny ip-literal"},
  };
  for (const auto& c : cases) EXPECT_EQ(answer(policy, c.authority), c.outcome) << c.authority;
  EXPECT_TRUE(ask(policy, "b.com:443").passes());
  EXPECT_EQ(ask(policy, "evil.com:443").rule.describe(), "evil.com (deny.txt:1)");
}

TEST(Observe, KnowsWhereToGo) {
  const AgentPolicy policy = observed({});
  const Decision name = ask(policy, "B.com.:443");
  EXPECT_EQ(name.host.text(), "b.com");
  EXPECT_EQ(name.port, 443);
  const Decision literal = ask(policy, "8.8.8.8:22");
  EXPECT_EQ(literal.literal, Address::parse("8.8.8.8"));
  EXPECT_FALSE(literal.literal_allowed);
  EXPECT_EQ(literal.port, 22);
}

TEST(Observe, RefusesAddressesThatHaveNoStrictSpelling) {
  for (const auto authority : {"127.1:443", "0x7f.1:443", "::1:443", "8.8.8.8.:443"}) {
    EXPECT_EQ(answer(observed({}), authority), "deny ip-literal") << authority;
  }
}

TEST(Observe, HoldsTheOtherRefusals) {
  AgentPolicy policy = observed({"a.com"});
  EXPECT_EQ(answer(policy, "a b:443"), "deny bad-request");
  EXPECT_EQ(answer(policy, "b.com:0"), "deny bad-request");
  EXPECT_EQ(answer(policy, "8.8.8.8"), "deny bad-request");
  Query request = query(policy, "b.com:443");
  request.budget_spent = true;
  EXPECT_EQ(outcome(decide(request)), "deny budget-exhausted");
  policy.expires = 0;
  EXPECT_EQ(answer(policy, "a.com:443"), "deny agent-expired");
}

TEST(Observe, ChargesAGrantThatWouldHaveAllowed) {
  AgentPolicy policy = observed({});
  policy.grants = {test::grant("g1", {"a.com"})};
  const Decision decision = ask(policy, "a.com:443");
  EXPECT_EQ(outcome(decision), "allow");
  EXPECT_EQ(decision.grant, &policy.grants[0]);
}

}  // namespace
}  // namespace stile::acl
