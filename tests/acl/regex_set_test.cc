// RegexSet: whole-name matching, bounded memory, and failure that is told.
#include "acl/regex_set.h"

#include <gtest/gtest.h>

#include "tests/acl/policies.h"

namespace stile::acl {
namespace {

using test::Patterns;
using test::rule_set;

std::shared_ptr<const RegexSet> compile(const Patterns& patterns) {
  const auto set = RegexSet::compile({rule_set(patterns)});
  EXPECT_TRUE(set);
  return *set;
}

Patterns matches(const RegexSet& set, std::string_view name) {
  const RegexSet::Match match = set.match(name);
  EXPECT_FALSE(match.failed);
  Patterns found;
  for (const RuleRef ref : match.rules) found.push_back(ref.pattern());
  return found;
}

TEST(RegexSet, IsAnchoredAtBothEndsWhetherOrNotThePatternSaysSo) {
  const auto set = compile({"~api\\.example\\.com", "~^a$|b", "~x.*", "~c+|d+"});
  EXPECT_EQ(matches(*set, "api.example.com"), Patterns{"~api\\.example\\.com"});
  EXPECT_EQ(matches(*set, "b"), Patterns{"~^a$|b"});
  EXPECT_EQ(matches(*set, "a"), Patterns{"~^a$|b"});
  EXPECT_EQ(matches(*set, "xyz"), Patterns{"~x.*"});
  EXPECT_EQ(matches(*set, "ccc"), Patterns{"~c+|d+"});
  for (const auto name : {"api.example.com.evil.com", "evil-api.example.com", "ab", "ba", "bb",
                          "ax", "cd", "apizexample.com", ""}) {
    EXPECT_EQ(matches(*set, name), Patterns{}) << name;
  }
}

TEST(RegexSet, NamesEveryRuleThatMatchesInTheirOrder) {
  const auto set = compile({"~a.*", "plain.com", "~.*z", "~nothing"});
  EXPECT_EQ(matches(*set, "a.z"), (Patterns{"~a.*", "~.*z"}));
}

TEST(RegexSet, KnowsFileAndLineOverSeveralSets) {
  const auto set = RegexSet::compile({rule_set({"~a"}, "one.txt"), rule_set({"x.com"}, "none.txt"),
                                      rule_set({"y.com", "~a"}, "two.txt")});
  ASSERT_TRUE(set);
  const RegexSet::Match match = (*set)->match("a");
  ASSERT_EQ(match.rules.size(), 2U);
  EXPECT_EQ(match.rules[0].place(), "one.txt:1");
  EXPECT_EQ(match.rules[1].place(), "two.txt:2");
}

TEST(RegexSet, IsNullWithoutRegexes) {
  const auto set = RegexSet::compile({rule_set({"a.com"}), rule_set({})});
  ASSERT_TRUE(set);
  EXPECT_EQ(*set, nullptr);
}

TEST(RegexSet, KeepsItsRulesAlive) {
  const auto set = compile({"~a"});  // the rule set itself is gone here
  EXPECT_EQ(set->match("a").rules.front().describe(), "~a (list.txt:1)");
}

TEST(RegexSet, HasTheSameKeyForTheSameRegexes) {
  const auto regexes = rule_set({"~a"}), more = rule_set({"~b"}), names = rule_set({"a.com"});
  EXPECT_EQ(RegexSet::key({regexes, names}), RegexSet::key({names, regexes}));
  EXPECT_NE(RegexSet::key({regexes, more}), RegexSet::key({more, regexes}));
  EXPECT_NE(RegexSet::key({regexes}), RegexSet::key({regexes, more}));
  EXPECT_TRUE(RegexSet::key({names}).empty());
}

TEST(RegexSet, RefusesToCompileBeyondItsMemory) {
  const auto set = RegexSet::compile({rule_set({"~a", "~b{900}c"})}, 20000);
  ASSERT_FALSE(set);
  EXPECT_NE(set.error().message.find("list.txt:1"), std::string::npos) << set.error().message;
}

TEST(RegexSet, TellsAndCountsWhenItCouldNotRun) {
  const auto before = RegexSet::failures();
  const RegexSet::Match match = RegexSet::that_cannot_run()->match("a.com");
  EXPECT_TRUE(match.failed);
  EXPECT_TRUE(match.rules.empty());
  EXPECT_EQ(RegexSet::failures(), before + 1);
}

// Whatever the memory, a set either does not compile, or says that it failed, or is right.
TEST(RegexSet, IsNeverSilentlyWrongForLackOfMemory) {
  const auto rules = rule_set({"~(x+x+)+y", "~x{1,60}z"});
  const std::string miss(200, 'x'), hit = std::string(100, 'x') + 'y';
  int compiled = 0;
  for (std::int64_t bytes = 1000; bytes < 100000; bytes += 500) {
    const auto set = RegexSet::compile({rules}, bytes);
    if (!set) continue;
    ++compiled;
    EXPECT_TRUE((*set)->match(miss).rules.empty());
    const RegexSet::Match match = (*set)->match(hit);
    EXPECT_TRUE(match.failed || match.rules.size() == 1) << bytes;
  }
  EXPECT_GT(compiled, 0);
}

TEST(RegexSet, IsNotSlowedByRegexesThatBacktrackersFallFor) {
  const auto set = compile({"~(a|a)*(a|a)*(a|a)*b", "~(a+)+b", "~(.*)(.*)(.*)(.*)c"});
  EXPECT_EQ(matches(*set, std::string(253, 'a')), Patterns{});
}

}  // namespace
}  // namespace stile::acl
