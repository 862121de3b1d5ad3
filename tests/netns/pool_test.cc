// pool: addresses in rotation.
#include "netns/pool.h"

#include <gtest/gtest.h>

#include <set>

namespace stile::netns {
namespace {

acl::Address pool_address(const char* text) {
  return acl::Address::parse(text).value_or(acl::Address{});
}

config::NetnsSettings small_net() {
  config::NetnsSettings settings;
  settings.subnet = *acl::Prefix::parse("10.9.0.0/29");
  settings.gateway = pool_address("10.9.0.3");
  return settings;
}

const auto nobody = [](const acl::Address&) { return false; };

TEST(NetnsPool, GivesEveryAddressButTheReservedOnesBeforeOneComesTwice) {
  std::optional<acl::Address> last;
  std::vector<std::string> given;
  for (int i = 0; i < 6; ++i) {
    last = next_address(small_net(), last, nobody);
    ASSERT_TRUE(last);
    given.push_back(last->text());
  }
  const std::vector<std::string> expected{"10.9.0.1", "10.9.0.2", "10.9.0.4",
                                          "10.9.0.5", "10.9.0.6", "10.9.0.1"};
  EXPECT_EQ(given, expected);
}

TEST(NetnsPool, SkipsWhatIsTaken) {
  const std::set<acl::Address> taken{pool_address("10.9.0.4"), pool_address("10.9.0.5")};
  const auto next = next_address(small_net(), pool_address("10.9.0.2"),
                                 [&](const auto& one) { return taken.count(one) != 0; });
  EXPECT_EQ(next, pool_address("10.9.0.6"));
}

TEST(NetnsPool, GivesTheLastOneAgainOnlyIfNothingElseIsFree) {
  const auto next =
      next_address(small_net(), pool_address("10.9.0.2"),
                   [](const acl::Address& one) { return one != pool_address("10.9.0.2"); });
  EXPECT_EQ(next, pool_address("10.9.0.2"));
}

TEST(NetnsPool, SaysSoWhenAllAreTaken) {
  EXPECT_FALSE(next_address(small_net(), {}, [](const acl::Address&) { return true; }));
}

TEST(NetnsPool, StartsAgainWhenTheSubnetWasChanged) {
  EXPECT_EQ(next_address(small_net(), pool_address("192.0.2.9"), nobody), pool_address("10.9.0.1"));
}

TEST(NetnsPool, KnowsWhichAddressesAreForAgents) {
  const struct {
    const char* text;
    bool is_for_agents;
  } cases[] = {
      {"10.9.0.0", false},                       // the net itself
      {"10.9.0.1", true},  {"10.9.0.3", false},  // the gateway
      {"10.9.0.6", true},  {"10.9.0.7", false},  // broadcast
      {"10.9.0.8", false},                       // outside
      {"::1", false},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(is_for_agents(small_net(), pool_address(text)), expected) << text;
  }
}

}  // namespace
}  // namespace stile::netns
