// decide_name: a name resolves exactly if some request to it would pass.
#include "acl/decide_name.h"

#include <gtest/gtest.h>

#include "tests/acl/policies.h"

namespace stile::acl {
namespace {

using test::agent;
using test::grant;
using test::outcome;

std::string name_outcome(const AgentPolicy& policy, std::string_view name, UnixMicros now = 0) {
  return outcome(decide_name(&policy, name, {}, now));
}

TEST(DecideName, FollowsTheAllowAndDenyLists) {
  struct Row {
    test::Patterns allow, deny;
    std::vector<std::uint16_t> ports, http_ports;
    std::string name, expected;
  };
  const std::vector<Row> rows{
      {{"a.test"}, {}, {443}, {}, "a.test", "allow"},
      {{"a.test"}, {}, {443}, {}, "A.Test", "allow"},
      {{"a.test"}, {}, {443}, {}, "b.test", "deny host-not-allowed"},
      {{"a.test"}, {}, {443}, {}, "x.a.test", "deny host-not-allowed"},
      {{".a.test"}, {}, {443}, {}, "x.a.test", "allow"},
      {{"~^api-[0-9]+\\.test$"}, {}, {443}, {}, "api-7.test", "allow"},
      {{}, {}, {443}, {}, "a.test", "deny host-not-allowed"},
      // The port is part of the pattern, whatever the lists say.
      {{"a.test:8443"}, {}, {443}, {}, "a.test", "allow"},
      {{"tcp://a.test:22"}, {}, {443}, {}, "a.test", "allow"},
      {{"http://a.test"}, {}, {443}, {}, "a.test", "allow"},
      {{"http://a.test:8080"}, {}, {}, {}, "a.test", "allow"},
      // A bare pattern needs a listed port.
      {{"a.test"}, {}, {}, {}, "a.test", "deny host-not-allowed"},
      {{"a.test"}, {}, {}, {80}, "a.test", "allow"},
      // A deny rule for one port leaves the others.
      {{"a.test"}, {"a.test"}, {443}, {}, "a.test", "deny host-denied"},
      {{"a.test"}, {"a.test:443"}, {443}, {}, "a.test", "deny host-denied"},
      {{"a.test"}, {"a.test:443"}, {443, 8443}, {}, "a.test", "allow"},
      {{"a.test"}, {"a.test:443"}, {443}, {80}, "a.test", "allow"},
      {{"tcp://a.test:22"}, {"a.test"}, {443}, {}, "a.test", "deny host-denied"},
      // Names that are none.
      {{"*"}, {}, {443}, {}, "10.0.0.1", "deny ip-literal"},
      {{"*"}, {}, {443}, {}, "a.test:443", "deny ip-literal"},
      {{"*"}, {}, {443}, {}, "a..test", "deny bad-request"},
      {{"*"}, {}, {443}, {}, "a\\046b.test", "deny bad-request"},
      {{"*"}, {}, {443}, {}, "", "deny bad-request"},
      {{"*"}, {}, {443}, {}, "_dmarc.test", "deny bad-request"},
      {{"_sip.test"}, {}, {443}, {}, "_sip.test", "allow"},
  };
  for (const Row& row : rows) {
    AgentPolicy policy = agent(row.allow, row.deny);
    policy.ports = row.ports;
    policy.http_ports = row.http_ports;
    EXPECT_EQ(name_outcome(policy, row.name), row.expected)
        << row.name << " with " << (row.allow.empty() ? "nothing" : row.allow.front());
  }
}

TEST(DecideName, RefusesWhoeverMayReachNothing) {
  EXPECT_EQ(outcome(decide_name(nullptr, "a.test", {}, 0)), "deny unknown-agent");
  AgentPolicy policy = agent({"a.test"});
  policy.expires = 1000;
  EXPECT_EQ(name_outcome(policy, "a.test", 999), "allow");
  EXPECT_EQ(name_outcome(policy, "a.test", 1000), "deny agent-expired");
  policy.expires.reset();
  policy.mode = Mode::offline;
  EXPECT_EQ(name_outcome(policy, "a.test"), "deny offline");
}

TEST(DecideName, ResolvesEveryValidNameInObserveMode) {
  AgentPolicy policy = agent({"a.test"}, {"c.test"});
  policy.mode = Mode::observe;
  EXPECT_EQ(name_outcome(policy, "a.test"), "allow");
  EXPECT_TRUE(decide_name(&policy, "b.test", {}, 0).passes());
  EXPECT_TRUE(decide_name(&policy, "c.test", {}, 0).passes());
  EXPECT_EQ(name_outcome(policy, "b..test"), "deny bad-request");
}

TEST(DecideName, CountsGrantsWhileTheyLast) {
  AgentPolicy policy = agent({});
  policy.grants.push_back(grant("g1", {"tcp://a.test:22"}));
  policy.grants.back().expires = 1000;
  EXPECT_EQ(name_outcome(policy, "a.test", 999), "allow");
  EXPECT_EQ(name_outcome(policy, "a.test", 1000), "deny host-not-allowed");
}

TEST(SpeaksHttp, OnlyWherePlainHttpIsListed) {
  AgentPolicy policy = agent({"a.test", "http://b.test:8080", "c.test:8080"});
  policy.http_ports = {80};
  const auto on = [&](std::string_view name, std::uint16_t port) {
    return speaks_http(policy, parse_host(name).host, port, 0);
  };
  EXPECT_TRUE(on("a.test", 80));
  EXPECT_FALSE(on("a.test", 443));
  EXPECT_TRUE(on("b.test", 8080));
  EXPECT_FALSE(on("c.test", 8080));
  policy.http_ports = {};
  EXPECT_FALSE(on("a.test", 80));
  policy.mode = Mode::observe;
  EXPECT_TRUE(on("x.test", 80));
  EXPECT_FALSE(on("x.test", 443));
}

}  // namespace
}  // namespace stile::acl
