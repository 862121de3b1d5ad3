// rule_diff: in which rules and settings two policies differ.
#include "cli/rule_diff.h"

#include <gtest/gtest.h>

#include "tests/cli/policies.h"

namespace stile::cli {
namespace {

using Names = std::vector<std::string>;

std::vector<AgentDiff> compared(const std::vector<TestAgent>& before,
                                const std::vector<TestAgent>& after) {
  return compare_rules(*snapshot_of(before), *snapshot_of(after));
}

TEST(RuleDiff, IsEmptyForTheSameRulesInAnotherOrder) {
  EXPECT_TRUE(compared({{"alpha", {"a.example", ".b.example"}}},
                       {{"alpha", {".b.example", "a.example", "a.example"}}})
                  .empty());
}

TEST(RuleDiff, TellsAddedAndRemovedPatterns) {
  const auto diffs =
      compared({{"alpha", {"a.example", "b.example"}}}, {{"alpha",
                                                          {"b.example", ".c.example:8443"},
                                                          "10.9.0.1/32",
                                                          acl::Mode::enforce,
                                                          {"d.example"}}});
  ASSERT_EQ(diffs.size(), 1u);
  EXPECT_EQ(diffs[0].agent, "alpha");
  EXPECT_EQ(diffs[0].kind, AgentDiff::Kind::changed);
  EXPECT_EQ(diffs[0].allow_added, Names{".c.example:8443"});
  EXPECT_EQ(diffs[0].allow_removed, Names{"a.example"});
  EXPECT_EQ(diffs[0].deny_added, Names{"d.example"});
  EXPECT_TRUE(diffs[0].deny_removed.empty());
}

TEST(RuleDiff, TellsAgentsThatComeAndGo) {
  const auto diffs = compared({{"alpha", {"a.example"}}}, {{"beta", {"b.example"}}});
  ASSERT_EQ(diffs.size(), 2u);
  EXPECT_EQ(diffs[0].kind, AgentDiff::Kind::removed);
  EXPECT_EQ(diffs[1].kind, AgentDiff::Kind::added);
  EXPECT_EQ(diffs[1].allow_added, Names{"b.example"});
}

TEST(RuleDiff, TellsSettingsThatChange) {
  const auto diffs = compared({{"alpha", {}}}, {{"alpha", {}, "10.9.0.2/32", acl::Mode::observe}});
  ASSERT_EQ(diffs.size(), 1u);
  ASSERT_EQ(diffs[0].settings.size(), 2u);
  EXPECT_EQ(diffs[0].settings[0].key, "mode");
  EXPECT_EQ(diffs[0].settings[0].before, "enforce");
  EXPECT_EQ(diffs[0].settings[0].after, "observe");
  EXPECT_EQ(diffs[0].settings[1].key, "source");
}

}  // namespace
}  // namespace stile::cli
