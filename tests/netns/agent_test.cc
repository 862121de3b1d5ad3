// Agent: ids, device names, addresses of both kinds and user ids.
#include "netns/agent.h"

#include <gtest/gtest.h>

#include <set>

#include "base/ascii.h"

namespace stile::netns {
namespace {

acl::Address address(const char* text) {
  return acl::Address::parse(text).value_or(acl::Address{});
}

TEST(NetnsAgentId, TakesLettersDigitsAndInnerHyphens) {
  const struct {
    std::string text;
    bool is_id;
  } cases[] = {
      {"a", true},
      {"alpha-001", true},
      {"0", true},
      {std::string(64, 'a'), true},
      {std::string(65, 'a'), false},
      {"", false},
      {"-a", false},
      {"a-", false},
      {"Alpha", false},
      {"a_b", false},
      {"a.b", false},
      {"../a", false},
      {"a/b", false},
      {"a@10.200.0.2", false},
      {std::string{"a\0b", 3}, false},
      {"ä", false},
  };
  for (const auto& [text, is_id] : cases) EXPECT_EQ(is_plain_id(text), is_id) << text;
}

TEST(NetnsDeviceName, FitsTheKernelAndDiffersForManyIds) {
  std::set<std::string> names;
  for (int i = 0; i < 20'000; ++i) {
    const auto name = device_name("agent-" + std::to_string(i));
    EXPECT_EQ(name.size(), 15U);
    EXPECT_TRUE(name.starts_with(device_prefix));
    names.insert(name);
  }
  EXPECT_EQ(names.size(), 20'000U);
}

TEST(NetnsDeviceName, DependsOnNothingButTheId) {
  EXPECT_EQ(device_name("alpha"), device_name("alpha"));
  EXPECT_EQ(device_name(std::string(64, 'z')).size(), 15U);
}

TEST(NetnsMac, IsLocalUnicastAndDiffersBetweenEndsAndAgents) {
  const auto a = address("10.200.0.2");
  const auto b = address("10.200.0.3");
  for (const auto& mac : {host_mac(a), agent_mac(a), host_mac(b), agent_mac(b)}) {
    EXPECT_EQ(mac[0] & 3U, 2U);
  }
  EXPECT_TRUE(is_host_mac(host_mac(a)));
  EXPECT_FALSE(is_host_mac(agent_mac(a)));
  const std::set<Mac> all{host_mac(a), agent_mac(a), host_mac(b), agent_mac(b)};
  EXPECT_EQ(all.size(), 4U);
}

TEST(NetnsUidRange, IsDisjointForNeighboursAndBelowTwoToThe31) {
  const auto subnet = acl::Prefix::parse("10.200.0.0/16");
  ASSERT_TRUE(subnet);
  const auto first = uid_range(*subnet, address("10.200.0.2"));
  const auto second = uid_range(*subnet, address("10.200.0.3"));
  const auto last = uid_range(*subnet, address("10.200.255.254"));
  ASSERT_TRUE(first && second && last);
  EXPECT_EQ(first->first + first->count, second->first);
  EXPECT_GT(first->first, 0x78000000U);
  EXPECT_LE(last->first + last->count, 0x80000000U);
}

TEST(NetnsUidRange, RefusesSubnetsThatNeedMoreIdsThanThereAre) {
  EXPECT_FALSE(uid_range(*acl::Prefix::parse("10.0.0.0/8"), address("10.1.0.2")));
  EXPECT_FALSE(uid_range(*acl::Prefix::parse("10.200.0.0/16"), address("10.201.0.2")));
}

}  // namespace
}  // namespace stile::netns
