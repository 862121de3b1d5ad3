// ruleset: the text of the table.
#include "netns/ruleset.h"

#include <gtest/gtest.h>

namespace stile::netns {
namespace {

Agent agent(const char* id, const char* address) {
  return {id, acl::Address::parse(address).value_or(acl::Address{}), "i"};
}

TEST(NetnsRuleset, NamesGatewayPortAndSubnetOfTheSettings) {
  config::NetnsSettings settings;
  settings.subnet = *acl::Prefix::parse("10.77.0.0/20");
  settings.gateway = *acl::Address::parse("10.77.0.9");
  settings.port = 8123;
  const auto text = whole_table(settings, {});
  EXPECT_NE(
      text.find("ip daddr 10.77.0.9 tcp dport 8123 iifname . ip saddr @agents notrack accept"),
      std::string::npos);
  EXPECT_NE(text.find("ip saddr 10.77.0.0/20 counter name foreign drop"), std::string::npos);
  EXPECT_EQ(text.find('$'), std::string::npos);
  EXPECT_EQ(text.find("10.200."), std::string::npos);
}

TEST(NetnsRuleset, ReplacesTheTableInOneTransactionAndTouchesNoOther) {
  const auto text = whole_table({}, {});
  EXPECT_NE(text.find("add table inet stile\ndelete table inet stile\ntable inet stile {"),
            std::string::npos);
  EXPECT_EQ(text.find("flush"), std::string::npos);
}

TEST(NetnsRuleset, AdmitsEachAgentWithItsDeviceAndItsAddress) {
  const std::vector<Agent> agents{agent("alpha", "10.200.0.2"), agent("beta", "10.200.0.3")};
  const auto text = whole_table({}, agents);
  for (const auto& one : agents) {
    const auto pair = "\"" + device_name(one.id) + "\" . " + one.address.text();
    EXPECT_NE(text.find("add element inet stile agents { " + pair + " }"), std::string::npos);
    EXPECT_NE(text.find(admit(one)), std::string::npos);
  }
}

TEST(NetnsRuleset, ExpelsExactlyWhatWasAdmitted) {
  const auto one = agent("alpha", "10.200.0.2");
  auto admitted = admit(one);
  const auto expelled =
      expel_device(device_name("alpha")) + expel_pair(device_name("alpha"), one.address);
  for (auto at = admitted.find("add "); at != std::string::npos; at = admitted.find("add ")) {
    admitted.replace(at, 4, "delete ");
  }
  EXPECT_EQ(admitted, expelled);
}

}  // namespace
}  // namespace stile::netns
