// decide: the steps in their order, as docs/policy.md numbers them.
#include "acl/decide.h"

#include <gtest/gtest.h>

#include "acl/admit.h"
#include "tests/acl/policies.h"

namespace stile::acl {
namespace {

using test::agent;
using test::answer;
using test::ask;
using test::outcome;
using test::query;
using test::rules;

TEST(Step1Agent, RefusesASourceOfNobody) {
  Query nobody;
  nobody.authority = split_authority("example.com:443");
  EXPECT_EQ(outcome(decide(nobody)), "deny unknown-agent");
}

TEST(Step1Agent, RefusesFromTheMomentOfExpiry) {
  AgentPolicy policy = agent({"example.com"});
  policy.expires = 1000;
  Query request = query(policy, "example.com:443");
  request.now = 999;
  EXPECT_EQ(outcome(decide(request)), "allow");
  request.now = 1000;
  EXPECT_EQ(outcome(decide(request)), "deny agent-expired");
}

TEST(Step2Mode, RefusesEverythingOffline) {
  AgentPolicy policy = agent({"*"});
  policy.mode = Mode::offline;
  EXPECT_EQ(answer(policy, "example.com:443"), "deny offline");
  EXPECT_EQ(answer(policy, "1.2.3.4:443"), "deny offline");
  EXPECT_EQ(answer(policy, "not a host"), "deny offline");
}

TEST(Step3Literal, RefusesAddressesBeforeLookingAtAnythingElse) {
  const AgentPolicy policy = agent({"*"});
  for (const auto authority :
       {"127.0.0.1:443", "8.8.8.8:443", "[::1]:443", "::1:443", "2130706433:443", "0x7f.1:443",
        "127.1:443", "1.2.3.4.:443", "example.1:443", "[fe80::1%25lo]:443", "1.2.3.4", "1.2.3.4:x",
        "1.2.3.4:22", "a b.1:443"}) {
    EXPECT_EQ(answer(policy, authority), "deny ip-literal") << authority;
  }
}

TEST(Step3Literal, NamesThePortOfWhatItRefuses) {
  EXPECT_EQ(ask(agent({"*"}), "8.8.8.8:8443").port, 8443);
  EXPECT_EQ(ask(agent({"*"}), "8.8.8.8:65536").port, 0);
  EXPECT_EQ(ask(agent({"*"}), "8.8.8.8").port, 0);
}

TEST(Step3Literal, LetsTheStrictSpellingOfAnAllowedAddressPass) {
  AgentPolicy policy = agent({});
  policy.allow_ip = {*Address::parse("10.0.0.7"), *Address::parse("2001:db8::7")};
  const Decision v4 = ask(policy, "10.0.0.7:443");
  EXPECT_EQ(outcome(v4), "allow");
  EXPECT_TRUE(v4.literal_allowed);
  EXPECT_EQ(v4.literal, Address::parse("10.0.0.7"));
  EXPECT_EQ(v4.port, 443);
  EXPECT_EQ(v4.host.text(), "");
  EXPECT_EQ(answer(policy, "[2001:db8::7]:443"), "allow");
  EXPECT_EQ(answer(policy, "[2001:DB8:0::7]:443"), "allow");
  for (const auto authority :
       {"10.0.0.8:443", "010.0.0.7:443", "10.0.0.7.:443", "10.7:443", "167772167:443",
        "[::ffff:10.0.0.7]:443", "[10.0.0.7]:443", "2001:db8::7:443", "[2001:db8::7%1]:443"}) {
    EXPECT_EQ(answer(policy, authority), "deny ip-literal") << authority;
  }
}

TEST(Step3Literal, StillNeedsAListedPort) {
  AgentPolicy policy = agent({});
  policy.allow_ip = {*Address::parse("10.0.0.7")};
  EXPECT_EQ(answer(policy, "10.0.0.7:22"), "deny port-not-allowed");
  EXPECT_EQ(answer(policy, "10.0.0.7"), "deny bad-request");
  EXPECT_EQ(answer(policy, "10.0.0.7:80", Scheme::http), "deny port-not-allowed");
  policy.http_ports = {80};
  EXPECT_EQ(answer(policy, "10.0.0.7:80", Scheme::http), "allow");
}

TEST(Step4Syntax, RefusesHostsThatAreNotLdh) {
  const AgentPolicy policy = agent({"*", "~.*"});
  for (const auto authority :
       {"", ":443", "-a.com:443", "a..com:443", "a b.com:443", "user@a.com:443", "a%2ecom:443",
        "b\303\274cher.de:443",  // octal: it ends before the c
        "a_b.com:443"}) {
    EXPECT_EQ(answer(policy, authority), "deny bad-request") << authority;
  }
}

TEST(Step4Syntax, RefusesMissingAndMalformedPorts) {
  const AgentPolicy policy = agent({"*"});
  for (const auto authority : {"a.com", "a.com:", "a.com:0", "a.com:443x", "a.com:+443",
                               "a.com:65979", "a.com:443:22", "a.com: 443", "a.com:000443"}) {
    EXPECT_EQ(answer(policy, authority), "deny bad-request") << authority;
  }
}

TEST(Step4Syntax, TakesUnderscoresOnlyWhereARuleThatCoversTheNameHasOne) {
  EXPECT_EQ(answer(agent({".example.com"}), "_x.example.com:443"), "deny bad-request");
  EXPECT_EQ(answer(agent({"*", "a_b.com"}), "_x.example.com:443"), "deny bad-request");
  EXPECT_EQ(answer(agent({"_x.example.com"}), "_x.example.com:443"), "allow");
  EXPECT_EQ(answer(agent({"*._tcp.example.com"}), "a._tcp.example.com:443"), "allow");
  EXPECT_EQ(answer(agent({"~_[a-z]\\.example\\.com"}), "_x.example.com:443"), "allow");
  EXPECT_EQ(answer(agent({"~\\w+\\.example\\.com"}), "_x.example.com:443"), "deny bad-request");
  EXPECT_EQ(answer(agent({"*"}, {"_x.example.com"}), "_x.example.com:443"), "deny host-denied");
  // A deny rule for another way must not open the name on this one.
  EXPECT_EQ(answer(agent({"*"}, {"http://_x.example.com"}), "_x.example.com:443"),
            "deny bad-request");
  AgentPolicy granted = agent({});
  granted.grants = {test::grant("g", {"_x.example.com"})};
  EXPECT_EQ(answer(granted, "_x.example.com:443"), "allow");
}

TEST(Step5Port, TakesListedPortsForEachScheme) {
  AgentPolicy policy = agent({"a.com"});
  EXPECT_EQ(answer(policy, "a.com:443"), "allow");
  EXPECT_EQ(answer(policy, "a.com:80"), "deny port-not-allowed");
  EXPECT_EQ(answer(policy, "a.com:80", Scheme::http), "deny port-not-allowed");
  EXPECT_EQ(answer(policy, "a.com:443", Scheme::http), "deny port-not-allowed");
  policy.ports = {443, 8443};
  policy.http_ports = {80};
  EXPECT_EQ(answer(policy, "a.com:8443"), "allow");
  EXPECT_EQ(answer(policy, "a.com:80", Scheme::http), "allow");
  EXPECT_EQ(answer(policy, "a.com:80"), "deny port-not-allowed");
  policy.ports = {};
  EXPECT_EQ(answer(policy, "a.com:443"), "deny port-not-allowed");
}

TEST(Step5Port, TakesThePortThatAPatternForThatNameCarries) {
  const AgentPolicy policy = agent(
      {"a.com:8443", ".b.com:9443", "http://c.com", "http://*.d.com:8080", "tcp://git.com:22"});
  const struct {
    std::string_view authority;
    Scheme scheme;
    std::string_view outcome;
  } cases[] = {
      {"a.com:8443", Scheme::tunnel, "allow"},
      {"a.com:9443", Scheme::tunnel, "deny port-not-allowed"},
      {"a.com:443", Scheme::tunnel, "deny host-not-allowed"},  // needs the bare name too
      {"a.com:8443", Scheme::http, "deny port-not-allowed"},
      {"x.a.com:8443", Scheme::tunnel, "deny port-not-allowed"},
      {"x.b.com:9443", Scheme::tunnel, "allow"},
      {"b.com:9443", Scheme::tunnel, "allow"},
      {"c.com:80", Scheme::http, "allow"},
      {"c.com:80", Scheme::tunnel, "deny port-not-allowed"},
      {"c.com:443", Scheme::tunnel, "deny host-not-allowed"},
      {"x.d.com:8080", Scheme::http, "allow"},
      {"d.com:8080", Scheme::http, "deny port-not-allowed"},
      {"x.d.com:80", Scheme::http, "deny port-not-allowed"},
      {"git.com:22", Scheme::tunnel, "allow"},
      {"git.com:443", Scheme::tunnel, "deny host-not-allowed"},
      {"git.com:22", Scheme::http, "deny port-not-allowed"},
      {"evil.com:22", Scheme::tunnel, "deny port-not-allowed"},
  };
  for (const auto& c : cases)
    EXPECT_EQ(answer(policy, c.authority, c.scheme), c.outcome) << c.authority;
}

TEST(Step6Host, AllowsNothingByDefault) {
  EXPECT_EQ(answer(agent({}), "a.com:443"), "deny host-not-allowed");
  const AgentPolicy blank;
  EXPECT_EQ(answer(blank, "a.com:443"), "deny host-not-allowed");
}

TEST(Step6Host, AllowsByEveryKindOfRuleAndNamesIt) {
  const AgentPolicy policy =
      agent({"exact.com", ".suffix.com", "*.below.com", "~re[0-9]+\\.com", "exact.com:8443"});
  const struct {
    std::string_view authority, rule;
  } cases[] = {
      {"exact.com:443", "exact.com (allow.txt:1)"},
      {"EXACT.com.:443", "exact.com (allow.txt:1)"},
      {"a.suffix.com:443", ".suffix.com (allow.txt:2)"},
      {"a.below.com:443", "*.below.com (allow.txt:3)"},
      {"re7.com:443", "~re[0-9]+\\.com (allow.txt:4)"},
      {"exact.com:8443", "exact.com:8443 (allow.txt:5)"},
  };
  for (const auto& c : cases) {
    const Decision decision = ask(policy, c.authority);
    EXPECT_EQ(outcome(decision), "allow") << c.authority;
    ASSERT_TRUE(decision.rule);
    EXPECT_EQ(decision.rule.describe(), c.rule);
    EXPECT_EQ(decision.grant, nullptr);
    EXPECT_TRUE(decision.check_hello);
  }
}

TEST(Step6Host, DenyWinsOverEveryAllow) {
  const AgentPolicy policy =
      agent({"*", "a.com", "a.com:8443", "http://a.com", "tcp://a.com:22", "~.*"}, {"a.com"});
  EXPECT_EQ(answer(policy, "a.com:443"), "deny host-denied");
  EXPECT_EQ(answer(policy, "a.com:8443"), "deny host-denied");
  EXPECT_EQ(answer(policy, "a.com:22"), "deny host-denied");
  EXPECT_EQ(answer(policy, "a.com:80", Scheme::http), "deny host-denied");
  EXPECT_EQ(answer(policy, "b.a.com:443"), "allow");
  EXPECT_EQ(ask(policy, "a.com:443").rule.describe(), "a.com (deny.txt:1)");
}

TEST(Step6Host, DenyWithPortOrSchemeRefusesOnlyThat) {
  AgentPolicy policy = agent({"*", "a.com:8443", "tcp://a.com:22", "tcp://a.com:23"},
                             {"a.com:8443", "http://.b.com", "tcp://a.com:22"});
  policy.http_ports = {80, 8443};
  EXPECT_EQ(answer(policy, "a.com:443"), "allow");
  EXPECT_EQ(answer(policy, "a.com:8443"), "deny host-denied");
  EXPECT_EQ(answer(policy, "a.com:8443", Scheme::http), "allow");
  EXPECT_EQ(answer(policy, "a.com:22"), "deny host-denied");
  EXPECT_EQ(answer(policy, "a.com:23"), "allow");
  EXPECT_EQ(answer(policy, "x.b.com:80", Scheme::http), "deny host-denied");
  EXPECT_EQ(answer(policy, "x.b.com:443"), "allow");
  policy.deny = rules({"a.com:443"});
  EXPECT_EQ(answer(policy, "a.com:443"), "deny host-denied");
}

TEST(Step6Host, DeniesByRegexAndByStar) {
  EXPECT_EQ(answer(agent({"*"}, {"~.*tracker.*"}), "x.tracker.com:443"), "deny host-denied");
  EXPECT_EQ(answer(agent({"*"}, {"~.*tracker.*"}), "x.com:443"), "allow");
  EXPECT_EQ(answer(agent({"*"}, {"*"}), "x.com:443"), "deny host-denied");
}

TEST(Step6Host, TakesARegexThatCannotRunForAMatchOnlyInDeny) {
  AgentPolicy policy = agent({"a.com"});
  policy.allow.regexes = RegexSet::that_cannot_run();
  EXPECT_EQ(answer(policy, "a.com:443"), "allow");
  EXPECT_EQ(answer(policy, "b.com:443"), "deny host-not-allowed");
  policy.deny.regexes = RegexSet::that_cannot_run();
  const Decision decision = ask(policy, "a.com:443");
  EXPECT_EQ(outcome(decision), "deny host-denied");
  EXPECT_FALSE(decision.rule);
}

TEST(Step6Host, LooksThroughAllListsOfAnAgent) {
  AgentPolicy policy = agent({"a.com"}, {"x.com"});
  policy.allow.sets.push_back(test::rule_set({"b.com"}, "file.txt"));
  policy.deny.sets.push_back(test::rule_set({".b.com"}, "global.txt"));
  EXPECT_EQ(answer(policy, "a.com:443"), "allow");
  EXPECT_EQ(ask(policy, "b.com:443").rule.describe(), ".b.com (global.txt:1)");
  policy.deny.sets.pop_back();
  EXPECT_EQ(ask(policy, "b.com:443").rule.describe(), "b.com (file.txt:1)");
}

TEST(Step7Usage, RefusesASpentBudgetAfterAllOthers) {
  const AgentPolicy policy = agent({"a.com"});
  Query request = query(policy, "a.com:443");
  request.budget_spent = true;
  EXPECT_EQ(outcome(decide(request)), "deny budget-exhausted");
  EXPECT_FALSE(decide(request).rule);
  request.authority = split_authority("b.com:443");
  EXPECT_EQ(outcome(decide(request)), "deny host-not-allowed");
}

TEST(Admit, RefusesTheConnectionAfterTheLastOne) {
  const Connections none{}, room{9, 10}, full{10, 10}, over{11, 10};
  EXPECT_EQ(admit(none, room), Reason::none);
  EXPECT_EQ(admit(none, full), Reason::too_many_connections);
  EXPECT_EQ(admit(none, over), Reason::too_many_connections);
  EXPECT_EQ(admit(full, room), Reason::overloaded);
  EXPECT_EQ(admit(full, full), Reason::overloaded);
  EXPECT_EQ(admit(none, {0, 0}), Reason::too_many_connections);
}

TEST(CheckHello, IsOffForTcpPatternsAndWhereTheAgentNeedsNoSni) {
  AgentPolicy policy = agent({"a.com", "tcp://a.com:22", "a.com:23", "tcp://a.com:23"});
  policy.ports = {443, 22};
  EXPECT_TRUE(ask(policy, "a.com:443").check_hello);
  EXPECT_FALSE(ask(policy, "a.com:22").check_hello);  // bare and tcp:// both allow: tcp:// wins
  EXPECT_FALSE(ask(policy, "a.com:23").check_hello);
  policy.check_sni = false;
  EXPECT_FALSE(ask(policy, "a.com:443").check_hello);
}

TEST(CheckHello, StaysOnForOtherPortsOfATcpName) {
  const AgentPolicy policy = agent({".com", "tcp://a.com:22"});
  EXPECT_TRUE(ask(policy, "a.com:443").check_hello);
}

TEST(Decision, DeniesUnlessItWasMade) {
  const Decision blank{};
  EXPECT_EQ(outcome(blank), "deny internal-error");
  EXPECT_FALSE(blank.passes());
  EXPECT_TRUE(blank.check_hello);
}

TEST(Decision, CarriesTheCanonicalHostAndPort) {
  const Decision decision = ask(agent({"a.com"}), "A.COM.:00443");
  EXPECT_EQ(decision.host.text(), "a.com");
  EXPECT_EQ(decision.port, 443);
  EXPECT_FALSE(decision.literal);
}

}  // namespace
}  // namespace stile::acl
