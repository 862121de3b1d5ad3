// NameTable: every name that was put is found, and no other, however full the buckets are.
#include "acl/name_table.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace stile::acl {
namespace {

using Hash = std::function<std::uint32_t(const std::string&)>;

// `count` names of the lengths given, in turn; no two are equal.
std::vector<std::string> make_names(std::size_t count, const std::vector<std::size_t>& lengths) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    std::string name = std::to_string(i);
    names.push_back(name.append(lengths[i % lengths.size()], 'x'));
  }
  return names;
}

void expect_finds_all(const std::vector<std::string>& names, const Hash& hash) {
  NameTable table;
  std::size_t space = 0;
  for (const auto& name : names) space += NameTable::space_for(name.size());
  table.reserve(space);
  std::vector<std::uint32_t> places;
  for (std::size_t i = 0; i < names.size(); ++i) {
    NameTable::Entry entry;
    entry.rule = static_cast<std::uint32_t>(i + 1);
    places.push_back(table.put(hash(names[i]), names[i], entry));
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    ASSERT_EQ(table.find(hash(names[i]), names[i]).rule, i + 1) << names[i];
    ASSERT_EQ(table.name_at(places[i], names[i].size()), names[i]);
    const std::string stranger = "y" + names[i];
    ASSERT_EQ(table.find(hash(names[i]), stranger).rule, 0U) << stranger;
  }
}

std::uint32_t spread(const std::string& name) {
  return static_cast<std::uint32_t>(std::hash<std::string>{}(name));
}

TEST(NameTable, FindsNamesOfEveryLength) {
  std::vector<std::size_t> lengths;
  for (std::size_t length = 1; length < 250; ++length) lengths.push_back(length);
  expect_finds_all(make_names(5000, lengths), spread);
}

// The sizes that leave the most room unused in a bucket.
TEST(NameTable, FindsAPlaceForEveryMixOfLengths) {
  for (const std::size_t small : {1U, 5U, 12U, 20U, 22U, 23U}) {
    for (const std::size_t large : {24U, 28U, 32U, 36U}) {
      std::vector<std::string> names = make_names(2000, {small});
      for (auto& name : make_names(1000, {large})) names.push_back("z" + name);
      expect_finds_all(names, spread);
    }
  }
}

// Whoever writes a list can choose its names; all in one bucket is slow, but neither endless nor
// wrong.
TEST(NameTable, FindsNamesThatAllHaveOneHash) {
  for (const std::uint32_t hash : {0U, 0x80000000U, 0xffffffffU}) {
    expect_finds_all(make_names(500, {10, 30, 60}), [hash](const std::string&) { return hash; });
  }
}

TEST(NameTable, KeepsWhatWasPutLast) {
  NameTable table;
  table.reserve(NameTable::space_for(11));
  NameTable::Entry entry;
  entry.rule = 1;
  const auto place = table.put(7, "example.com", entry);
  entry.has_more = true;
  EXPECT_EQ(table.put(7, "example.com", entry), place);
  EXPECT_TRUE(table.find(7, "example.com").has_more);
  EXPECT_EQ(table.find(7, "example.com").rule, 1U);
}

}  // namespace
}  // namespace stile::acl
