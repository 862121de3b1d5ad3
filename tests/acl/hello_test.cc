// Step 10: the ClientHello, judged by a table.
#include "acl/hello.h"

#include <gtest/gtest.h>

#include "tests/acl/policies.h"

namespace stile::acl {
namespace {

using State = HelloFacts::State;
using test::agent;
using test::ask;
using test::host;

HelloFacts read(std::string_view sni, bool has_ech = false) {
  return facts_of_hello(true, sni, has_ech, host("a.com"));
}
HelloFacts nameless(bool has_ech = false) {
  return facts_of_hello(false, "", has_ech, host("a.com"));
}

std::string judged(const AgentPolicy& policy, std::string_view authority, const HelloFacts& hello) {
  Decision decision = ask(policy, authority);
  judge_hello(policy, hello, decision);
  return test::outcome(decision);
}

TEST(FactsOfHello, ComparesTheNameWithoutCase) {
  EXPECT_TRUE(read("a.com").names_host);
  EXPECT_TRUE(read("A.Com").names_host);
  EXPECT_FALSE(read("a.com.").names_host);  // RFC 6066: no trailing dot
  EXPECT_FALSE(read("a.co").names_host);
  EXPECT_FALSE(read("a.comm").names_host);
  EXPECT_FALSE(read(std::string_view{"a.com\0", 6}).names_host);
  EXPECT_FALSE(read("").names_host);
  EXPECT_FALSE(facts_of_hello(true, "", false, Host{}).names_host);  // an address has no name
}

TEST(JudgeHello, RefusesWhatDoesNotOpenWithAHelloForTheHost) {
  AgentPolicy policy = agent({"a.com", "tcp://a.com:22"});
  policy.ports = {443, 22};
  policy.allow_ip = {*Address::parse("10.0.0.7")};
  const struct {
    std::string_view authority;
    HelloFacts hello;
    std::string_view enforced, observed;
  } cases[] = {
      {"a.com:443", read("a.com"), "allow", "allow"},
      {"a.com:443", read("b.com"), "deny sni-mismatch", "would-deny sni-mismatch"},
      {"a.com:443", nameless(), "deny sni-missing", "would-deny sni-missing"},
      {"a.com:443", read("a.com", true), "deny ech-refused", "would-deny ech-refused"},
      // ECH comes first: the name that is seen need not be the one that is meant.
      {"a.com:443", read("b.com", true), "deny ech-refused", "would-deny ech-refused"},
      {"a.com:443", {State::not_tls}, "deny not-tls", "would-deny not-tls"},
      {"a.com:443", {State::late}, "deny client-hello-timeout", "would-deny client-hello-timeout"},
      // Nobody has looked: the policy asks for a hello only now.
      {"a.com:443", {}, "deny not-tls", "would-deny not-tls"},
      {"a.com:22", {}, "allow", "allow"},
      {"a.com:22", {State::not_tls}, "allow", "allow"},
      {"10.0.0.7:443", nameless(), "allow", "allow"},
      {"10.0.0.7:443", read("a.com"), "deny sni-mismatch", "would-deny sni-mismatch"},
      {"10.0.0.7:443", nameless(true), "deny ech-refused", "would-deny ech-refused"},
      // The first reason stays.
      {"b.com:443", read("a.com"), "deny host-not-allowed", "would-deny host-not-allowed"},
  };
  for (const auto& [authority, hello, enforced, observed] : cases) {
    policy.mode = Mode::enforce;
    EXPECT_EQ(judged(policy, authority, hello), enforced) << authority;
    policy.mode = Mode::observe;
    EXPECT_EQ(judged(policy, authority, hello), observed) << authority;
  }
}

TEST(JudgeHello, LooksAtNothingWhereSniIsOff) {
  AgentPolicy policy = agent({"a.com"});
  policy.check_sni = false;
  EXPECT_EQ(judged(policy, "a.com:443", {State::not_tls}), "allow");
}

TEST(Ech, IsAllowedWhereTheListSaysSo) {
  AgentPolicy policy = agent({"*"});
  policy.ports = {443, 8443};
  policy.allow_ip = {*Address::parse("10.0.0.7")};
  policy.ech.hosts = test::rules({"a.com", "*.b.com", "c.com:8443", "~d[0-9]\\.com"});
  const struct {
    std::string_view authority;
    bool allowed;
  } cases[] = {
      {"a.com:443", true},  {"x.a.com:443", false}, {"b.com:443", false},    {"x.b.com:443", true},
      {"c.com:443", false}, {"c.com:8443", true},   {"d1.com:443", true},    {"dd.com:443", false},
      {"e.com:443", false}, {"a.com:8443", true},   {"10.0.0.7:443", false},
  };
  for (const auto& [authority, allowed] : cases) {
    EXPECT_EQ(allows_ech(policy, ask(policy, authority)), allowed) << authority;
  }
  policy.ech.hosts.regexes = RegexSet::that_cannot_run();
  EXPECT_FALSE(allows_ech(policy, ask(policy, "d1.com:443")));
  policy.ech.everywhere = true;
  EXPECT_TRUE(allows_ech(policy, ask(policy, "e.com:443")));
  EXPECT_TRUE(allows_ech(policy, ask(policy, "10.0.0.7:443")));
}

TEST(Ech, StillNeedsTheOuterName) {
  AgentPolicy policy = agent({"a.com"});
  policy.ech.hosts = test::rules({"a.com"});
  EXPECT_EQ(judged(policy, "a.com:443", read("a.com", true)), "allow");
  EXPECT_EQ(judged(policy, "a.com:443", read("b.com", true)), "deny sni-mismatch");
  EXPECT_EQ(text(policy.ech), "a.com");
  EXPECT_EQ(text(Ech{}), "refuse");
  EXPECT_EQ(text(Ech{true, {}}), "allow");
}

}  // namespace
}  // namespace stile::acl
