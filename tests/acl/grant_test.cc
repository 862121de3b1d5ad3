// Grants: on top of the policy, below every deny rule, and only while they last.
#include <gtest/gtest.h>

#include "acl/decide.h"
#include "tests/acl/policies.h"

namespace stile::acl {
namespace {

using test::agent;
using test::answer;
using test::ask;
using test::grant;
using test::outcome;
using test::query;

AgentPolicy with_grants(AgentPolicy policy, std::vector<Grant> grants) {
  policy.grants = std::move(grants);
  return policy;
}

TEST(Grant, AllowsWhatThePolicyAloneRefusesAndIsNamedForTheCharge) {
  const AgentPolicy policy = with_grants(agent({"a.com"}), {grant("g1", {"b.com", "c.com:8443"})});
  EXPECT_EQ(ask(policy, "a.com:443").grant, nullptr);
  const Decision host = ask(policy, "b.com:443");
  EXPECT_EQ(outcome(host), "allow");
  EXPECT_EQ(host.grant, &policy.grants[0]);
  EXPECT_EQ(host.rule.describe(), "b.com (grant g1:1)");
  EXPECT_EQ(ask(policy, "c.com:8443").grant, &policy.grants[0]);
  EXPECT_EQ(answer(policy, "c.com:443"), "deny host-not-allowed");
  EXPECT_EQ(answer(policy, "b.com:8443"), "deny port-not-allowed");
}

TEST(Grant, IsNotChargedForWhatThePolicyAllows) {
  const AgentPolicy policy = with_grants(agent({".a.com"}), {grant("g1", {"x.a.com", "*"})});
  EXPECT_EQ(ask(policy, "x.a.com:443").grant, nullptr);
  EXPECT_EQ(ask(policy, "other.com:443").grant, &policy.grants[0]);
}

TEST(Grant, OpensPortsAndSchemesOfItsOwnPatterns) {
  const AgentPolicy policy =
      with_grants(agent({"a.com"}),
                  {grant("g1", {"a.com:8443", "http://a.com", "tcp://a.com:22", "~re\\.com"})});
  EXPECT_EQ(answer(policy, "a.com:8443"), "allow");
  EXPECT_EQ(answer(policy, "a.com:80", Scheme::http), "allow");
  EXPECT_EQ(answer(policy, "re.com:443"), "allow");
  const Decision tcp = ask(policy, "a.com:22");
  EXPECT_EQ(outcome(tcp), "allow");
  EXPECT_FALSE(tcp.check_hello);
}

TEST(Grant, WithoutTlsHoldsForWhatThePolicyAllowsWithIt) {
  const AgentPolicy policy =
      with_grants(agent({"a.com"}), {grant("g1", {"a.com:443", "tcp://a.com:443"})});
  const Decision decision = ask(policy, "a.com:443");
  EXPECT_EQ(outcome(decision), "allow");
  EXPECT_FALSE(decision.check_hello);
  EXPECT_EQ(decision.grant, &policy.grants[0]);
}

TEST(Grant, NeverBeatsADenyRule) {
  const AgentPolicy policy =
      with_grants(agent({}, {".a.com"}), {grant("g1", {"*", "x.a.com", "x.a.com:22"})});
  for (const auto authority : {"x.a.com:443", "x.a.com:22"}) {
    const Decision decision = ask(policy, authority);
    EXPECT_EQ(outcome(decision), "deny host-denied");
    EXPECT_EQ(decision.grant, nullptr);
  }
  EXPECT_EQ(answer(policy, "x.a.com:23"), "deny port-not-allowed");
}

TEST(Grant, EndsWithItsTimeRequestsAndBytes) {
  AgentPolicy policy = with_grants(agent({}), {grant("g1", {"a.com"})});
  Grant& only = policy.grants[0];
  Query request = query(policy, "a.com:443");
  request.now = 100;
  only.expires = 101;
  EXPECT_EQ(outcome(decide(request)), "allow");
  only.expires = 100;
  EXPECT_EQ(outcome(decide(request)), "deny host-not-allowed");
  only.expires.reset();
  for (auto* allowance : {&only.lease->requests, &only.lease->bytes_up}) {
    allowance->lock(1);
    EXPECT_EQ(outcome(decide(request)), "allow");
    allowance->lock(0);
    EXPECT_EQ(outcome(decide(request)), "deny host-not-allowed");
    allowance->set(Allowance::unlimited);
    EXPECT_EQ(outcome(decide(request)), "allow");
  }
  only.lease.reset();
  EXPECT_EQ(outcome(decide(request)), "deny host-not-allowed");
}

TEST(Grant, StaysAliveForTheRequestThatItWasChargedForUntilItsBytesEnd) {
  AgentPolicy policy = with_grants(agent({}), {grant("g1", {"a.com"})});
  Lease& lease = *policy.grants[0].lease;
  lease.requests.lock(0);
  Query open = query(policy, "a.com:443");
  open.charged = &lease;
  EXPECT_EQ(outcome(decide(open)), "allow");
  const Lease other;
  open.charged = &other;
  EXPECT_EQ(outcome(decide(open)), "deny host-not-allowed");
  open.charged = &lease;
  lease.bytes_up.lock(0);
  EXPECT_EQ(outcome(decide(open)), "deny host-not-allowed");
}

TEST(Grant, IsTheFirstLivingOneThatCovers) {
  AgentPolicy policy = with_grants(
      agent({}), {grant("other", {"b.com"}), grant("used", {"a.com"}), grant("next", {".a.com"})});
  policy.grants[1].lease->requests.lock(0);
  EXPECT_EQ(ask(policy, "a.com:443").grant, &policy.grants[2]);
  policy.grants[1].lease->requests.lock(1);
  EXPECT_EQ(ask(policy, "a.com:443").grant, &policy.grants[1]);
}

TEST(Grant, IsNotChargedWhenUsageRefuses) {
  const AgentPolicy policy = with_grants(agent({}), {grant("g1", {"a.com"})});
  Query request = query(policy, "a.com:443");
  request.budget_spent = true;
  const Decision decision = decide(request);
  EXPECT_EQ(outcome(decision), "deny budget-exhausted");
  EXPECT_EQ(decision.grant, nullptr);
}

TEST(Grant, DecidingTakesNothingFromIt) {
  const AgentPolicy policy = with_grants(agent({}), {grant("g1", {"a.com"})});
  policy.grants[0].lease->requests.lock(1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(answer(policy, "a.com:443"), "allow");
  EXPECT_EQ(policy.grants[0].lease->requests.left(), 1);
}

}  // namespace
}  // namespace stile::acl
