// may_dial: which of the resolved addresses may be dialled.
#include <gtest/gtest.h>

#include "acl/decide.h"
#include "tests/acl/policies.h"

namespace stile::acl {
namespace {

using test::agent;
using test::ask;

PrefixMap prefixes(std::initializer_list<std::string_view> texts) {
  std::vector<std::pair<Prefix, PrefixMap::Value>> entries;
  for (const auto text : texts) entries.emplace_back(*Prefix::parse(text), 0);
  return PrefixMap{std::move(entries)};
}

Address dialled(std::string_view text) { return *Address::parse(text); }

const PrefixMap none;

TEST(MayDial, TakesGlobalUnicastOnly) {
  const AgentPolicy policy = agent({"a.com"});
  const Decision decision = ask(policy, "a.com:443");
  EXPECT_TRUE(may_dial(policy, decision, dialled("8.8.8.8"), none));
  EXPECT_TRUE(may_dial(policy, decision, dialled("2606:4700::1"), none));
  for (const auto text :
       {"127.0.0.1", "10.0.0.1", "169.254.169.254", "168.63.129.16", "0.0.0.0", "::1",
        "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "fd00::1", "2002:808:808::"}) {
    EXPECT_FALSE(may_dial(policy, decision, dialled(text), none)) << text;
  }
}

TEST(MayDial, RefusesTheHostsOwnAddresses) {
  const AgentPolicy policy = agent({"a.com"});
  const PrefixMap own = prefixes({"203.0.114.9", "2606:4700::9"});
  const Decision decision = ask(policy, "a.com:443");
  EXPECT_FALSE(may_dial(policy, decision, dialled("203.0.114.9"), own));
  EXPECT_FALSE(may_dial(policy, decision, dialled("2606:4700::9"), own));
  EXPECT_TRUE(may_dial(policy, decision, dialled("203.0.114.8"), own));
}

TEST(MayDial, OpensPrivateExceptionsForTheHostsTheyName) {
  AgentPolicy policy = agent({"*"});
  policy.ports = {443, 8443};
  policy.private_exceptions = {
      {*Prefix::parse("10.1.0.0/16"), nullptr},
      {*Prefix::parse("10.2.0.0/16"), test::rule_set({".corp.com", "one.com:8443"})}};
  const Decision corp = ask(policy, "git.corp.com:443");
  const Decision other = ask(policy, "a.com:443");
  EXPECT_TRUE(may_dial(policy, other, dialled("10.1.2.3"), none));
  EXPECT_FALSE(may_dial(policy, other, dialled("10.2.2.3"), none));
  EXPECT_TRUE(may_dial(policy, corp, dialled("10.2.2.3"), none));
  EXPECT_FALSE(may_dial(policy, corp, dialled("10.3.2.3"), none));
  EXPECT_FALSE(may_dial(policy, corp, dialled("::ffff:10.2.2.3"), none));
  EXPECT_TRUE(may_dial(policy, ask(policy, "one.com:8443"), dialled("10.2.2.3"), none));
  EXPECT_FALSE(may_dial(policy, ask(policy, "one.com:443"), dialled("10.2.2.3"), none));
}

TEST(MayDial, OpensAnExceptionForTheHostsOwnAddressToo) {
  AgentPolicy policy = agent({"a.com"});
  policy.private_exceptions = {{*Prefix::parse("127.0.0.1/32"), nullptr}};
  const PrefixMap own = prefixes({"127.0.0.0/8"});
  const Decision decision = ask(policy, "a.com:443");
  EXPECT_TRUE(may_dial(policy, decision, dialled("127.0.0.1"), own));
  EXPECT_FALSE(may_dial(policy, decision, dialled("127.0.0.2"), own));
}

TEST(MayDial, NeverOpensForbiddenAddresses) {
  AgentPolicy policy = agent({"a.com"});
  policy.forbid_addresses = prefixes({"8.8.8.0/24", "10.0.0.0/8"});
  policy.private_exceptions = {{*Prefix::parse("10.0.0.0/8"), nullptr}};
  policy.allow_ip = {dialled("10.0.0.7")};
  const Decision decision = ask(policy, "a.com:443");
  EXPECT_FALSE(may_dial(policy, decision, dialled("8.8.8.8"), none));
  EXPECT_FALSE(may_dial(policy, decision, dialled("10.0.0.1"), none));
  EXPECT_FALSE(may_dial(policy, ask(policy, "10.0.0.7:443"), dialled("10.0.0.7"), none));
}

TEST(MayDial, TakesAnAllowedLiteralAsItIsAndNothingElseForIt) {
  AgentPolicy policy = agent({});
  policy.allow_ip = {dialled("10.0.0.7")};
  const Decision decision = ask(policy, "10.0.0.7:443");
  const PrefixMap own = prefixes({"10.0.0.7"});
  EXPECT_TRUE(may_dial(policy, decision, dialled("10.0.0.7"), own));
  EXPECT_FALSE(may_dial(policy, decision, dialled("8.8.8.8"), own));
}

TEST(MayDial, ChecksLiteralsThatObserveModeLetThrough) {
  AgentPolicy policy = agent({});
  policy.mode = Mode::observe;
  const auto dials = [&](std::string_view text) {
    return may_dial(policy, ask(policy, std::string{text} + ":443"), dialled(text), none);
  };
  EXPECT_TRUE(dials("8.8.8.8"));
  EXPECT_FALSE(dials("127.0.0.1"));
  EXPECT_FALSE(dials("169.254.169.254"));
}

}  // namespace
}  // namespace stile::acl
