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
    EXPECT_NE(text.find(admit({}, one)), std::string::npos);
  }
}

TEST(NetnsRuleset, ExpelsExactlyWhatWasAdmitted) {
  const auto one = agent("alpha", "10.200.0.2");
  auto admitted = admit({}, one);
  const auto expelled =
      expel_device(device_name("alpha")) + expel_pair(device_name("alpha"), one.address);
  for (auto at = admitted.find("add "); at != std::string::npos; at = admitted.find("add ")) {
    admitted.replace(at, 4, "delete ");
  }
  EXPECT_EQ(admitted, expelled);
}

TEST(NetnsRuleset, CapturesNothingUnlessTheConfigSaysSo) {
  auto captured = agent("alpha", "10.200.0.2");
  captured.is_captured = true;
  config::NetnsSettings settings;
  settings.capture = false;
  const auto text = whole_table(settings, std::vector{captured});
  for (const auto* word : {"tproxy", "reject", "captured", "198.18"}) {
    EXPECT_EQ(text.find(word), std::string::npos) << word;
  }
  EXPECT_NE(text.find("iifname @refused drop"), std::string::npos);
}

TEST(NetnsRuleset, CapturesOnlyAgentsThatWantIt) {
  auto alpha = agent("alpha", "10.200.0.2");
  alpha.is_captured = true;
  config::NetnsSettings settings;
  settings.capture = true;
  settings.capture_subnet = *acl::Prefix::parse("100.70.0.0/16");
  settings.port = 8123;
  const auto text = whole_table(settings, std::vector{alpha, agent("beta", "10.200.0.3")});
  const auto line = [](const char* id, const char* address) {
    return "add element inet stile captured { \"" + device_name(id) + "\" . " + address + " }";
  };
  EXPECT_NE(text.find(line("alpha", "10.200.0.2")), std::string::npos);
  EXPECT_EQ(text.find(line("beta", "10.200.0.3")), std::string::npos);
  EXPECT_NE(text.find("ip daddr 100.70.0.0/16 meta l4proto tcp iifname . ip saddr @captured"),
            std::string::npos);
  EXPECT_NE(text.find("tproxy ip to 10.200.0.1:8124 accept"), std::string::npos);
  EXPECT_EQ(text.find('$'), std::string::npos);
  EXPECT_EQ(text.find("198.18"), std::string::npos);
}

}  // namespace
}  // namespace stile::netns
