// PrefixMap: the longest prefix wins, as in a plain search through all of them.
#include "acl/prefix_map.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/acl/policies.h"

namespace stile::acl {
namespace {

using Entries = std::vector<std::pair<Prefix, PrefixMap::Value>>;

using test::address;

Prefix prefix(std::string_view text) { return *Prefix::parse(text); }

TEST(PrefixMap, FindsNothingWhenEmpty) {
  EXPECT_TRUE(PrefixMap{}.empty());
  EXPECT_FALSE(PrefixMap{}.find(address("1.2.3.4")));
  EXPECT_FALSE(PrefixMap{}.find(address("::1")));
}

TEST(PrefixMap, TakesTheLongestPrefix) {
  const PrefixMap map{{{prefix("10.0.0.0/8"), 1},
                       {prefix("10.1.0.0/16"), 2},
                       {prefix("10.1.1.1"), 3},
                       {prefix("0.0.0.0/0"), 4},
                       {prefix("::/0"), 5},
                       {prefix("fd00::/8"), 6}}};
  EXPECT_EQ(map.find(address("10.0.0.0")), 1);
  EXPECT_EQ(map.find(address("10.1.1.0")), 2);
  EXPECT_EQ(map.find(address("10.1.1.1")), 3);
  EXPECT_EQ(map.find(address("10.1.1.2")), 2);
  EXPECT_EQ(map.find(address("10.2.0.0")), 1);
  EXPECT_EQ(map.find(address("255.255.255.255")), 4);
  EXPECT_EQ(map.find(address("::ffff:10.1.1.1")), 5);
  EXPECT_EQ(map.find(address("fd00::1")), 6);
}

TEST(PrefixMap, KeepsTheFirstOfTwoEqualPrefixes) {
  const PrefixMap map{{{prefix("10.0.0.0/8"), 7}, {prefix("10.0.0.0/8"), 8}}};
  EXPECT_EQ(map.find(address("10.3.2.1")), 7);
}

TEST(PrefixMap, CoversTheEndsOfBothFamilies) {
  const PrefixMap map{{{prefix("0.0.0.0/0"), 1},
                       {prefix("128.0.0.0/1"), 2},
                       {prefix("255.255.255.255"), 3},
                       {prefix("0.0.0.0"), 4},
                       {prefix("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), 5},
                       {prefix("::"), 6}}};
  EXPECT_EQ(map.find(address("255.255.255.255")), 3);
  EXPECT_EQ(map.find(address("255.255.255.254")), 2);
  EXPECT_EQ(map.find(address("0.0.0.0")), 4);
  EXPECT_EQ(map.find(address("0.0.0.1")), 1);
  EXPECT_EQ(map.find(address("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")), 5);
  EXPECT_FALSE(map.find(address("ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe")));
  EXPECT_EQ(map.find(address("::")), 6);
  EXPECT_FALSE(map.find(address("::1")));
}

std::optional<PrefixMap::Value> search_all(const Entries& entries, const Address& wanted) {
  const std::pair<Prefix, PrefixMap::Value>* longest = nullptr;
  for (const auto& entry : entries) {
    if (!entry.first.contains(wanted)) continue;
    if (longest == nullptr || entry.first.length > longest->first.length) longest = &entry;
  }
  if (longest == nullptr) return std::nullopt;
  return longest->second;
}

TEST(PrefixMap, AgreesWithASearchThroughAllPrefixes) {
  std::mt19937 random{20};
  for (int round = 0; round < 300; ++round) {
    Entries entries;
    const auto count = random() % 12;
    for (PrefixMap::Value i = 0; i < count; ++i) {
      // Few distinct bits, so that prefixes nest and touch.
      const bool is_v4 = random() % 2 == 0;
      const std::string top = std::to_string(random() % 4 * 64);
      const std::string text =
          is_v4 ? top + ".0.0.0/" + std::to_string(2 + random() % 3)
                : (random() % 2 == 0 ? "8000::/" + std::to_string(1 + random() % 20)
                                     : "::/" + std::to_string(random() % 128));
      const auto parsed = Prefix::parse(text);
      if (parsed) entries.emplace_back(*parsed, i);
    }
    const PrefixMap map{entries};
    for (const auto& [entry, value] : entries) {
      for (const auto& probe : {std::optional{entry.first()}, std::optional{entry.last()},
                                entry.first().previous(), entry.last().next()}) {
        if (!probe) continue;
        EXPECT_EQ(map.find(*probe), search_all(entries, *probe)) << probe->text();
      }
    }
  }
}

}  // namespace
}  // namespace stile::acl
