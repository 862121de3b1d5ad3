// RuleSet: which rules cover a name, and what a set says of them.
#include "acl/rule_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/acl/policies.h"

namespace stile::acl {
namespace {

using test::host;
using test::Patterns;
using test::rule_set;

Patterns covering(const RuleSet& set, std::string_view name) {
  Patterns found;
  const Host parsed = host(name);
  set.visit(HostKey{parsed}, [&](RuleRef ref) {
    found.push_back(ref.pattern());
    return false;
  });
  return found;
}

TEST(RuleSet, MatchesOnLabelBoundaries) {
  const auto set = rule_set({"example.com", ".suffix.com", "*.below.com"});
  const struct {
    std::string_view name;
    Patterns covering;
  } cases[] = {
      {"example.com", {"example.com"}},
      {"www.example.com", {}},
      {"notexample.com", {}},
      {"example.com.evil.com", {}},
      {"suffix.com", {".suffix.com"}},
      {"a.suffix.com", {".suffix.com"}},
      {"a.b.c.suffix.com", {".suffix.com"}},
      {"notsuffix.com", {}},
      {"suffix.com.evil", {}},
      {"below.com", {}},
      {"a.below.com", {"*.below.com"}},
      {"a.b.below.com", {"*.below.com"}},
      {"xbelow.com", {}},
      {"com", {}},
  };
  for (const auto& c : cases) EXPECT_EQ(covering(*set, c.name), c.covering) << c.name;
}

TEST(RuleSet, VisitsEveryCoveringRuleTheClosestFirst) {
  const auto set = rule_set({"*", ".com", "*.b.com", ".b.com", "a.b.com", "a.b.com:8443",
                             "http://a.b.com", "tcp://a.b.com:22", "x.com", "~.*"});
  EXPECT_EQ(covering(*set, "a.b.com"),
            (Patterns{"a.b.com", "a.b.com:8443", "http://a.b.com", "tcp://a.b.com:22", "*.b.com",
                      ".b.com", ".com", "*"}));
  EXPECT_EQ(covering(*set, "b.com"), (Patterns{".b.com", ".com", "*"}));
  EXPECT_EQ(covering(*set, "org"), (Patterns{"*"}));
}

TEST(RuleSet, StopsWhenTheVisitorSaysSo) {
  const auto set = rule_set({"a.com", ".a.com", "*"});
  const Host name = host("a.com");
  int visits = 0;
  EXPECT_TRUE(set->visit(HostKey{name}, [&](RuleRef) { return ++visits == 2; }));
  EXPECT_EQ(visits, 2);
}

TEST(RuleSet, CoversNothingWhenEmpty) {
  EXPECT_EQ(covering(*rule_set({}), "a.com"), Patterns{});
  EXPECT_EQ(covering(*rule_set({"~.*"}), "a.com"), Patterns{});
}

TEST(RuleSet, CoversNoEmptyName) {
  const auto set = rule_set({"*", ".com"});
  const Host empty{};
  EXPECT_FALSE(set->visit(HostKey{empty}, [](RuleRef) { return true; }));
}

TEST(RuleSet, TellsAPatternOnceHoweverOftenItStands) {
  Patterns repeated(5000, "a.com");
  repeated.push_back(".a.com");
  EXPECT_EQ(covering(*rule_set(repeated), "a.com"), (Patterns{"a.com", ".a.com"}));
}

TEST(RuleSet, SaysWhereARuleStands) {
  const auto set = rule_set({"a.com", ".b.com:8443"}, "/etc/stile/list.txt");
  const RuleRef ref{set.get(), 1};
  EXPECT_EQ(ref.pattern(), ".b.com:8443");
  EXPECT_EQ(ref.place(), "/etc/stile/list.txt:2");
  EXPECT_EQ(ref.describe(), ".b.com:8443 (/etc/stile/list.txt:2)");

  RuleSet::Builder builder{"grant 7f3a"};
  builder.add(*Pattern::parse("c.com"), 0);
  const auto granted = std::move(builder).build();
  EXPECT_EQ((RuleRef{granted.get(), 0}.describe()), "c.com (grant 7f3a)");
}

TEST(RuleSet, KeepsRegexesOfFullLength) {
  const std::string longest = "~" + std::string(Pattern::max_regex_length, 'a');
  const auto set = rule_set({"x.com", longest, "y.com"});
  ASSERT_EQ(set->regexes(), std::vector<std::uint32_t>{1});
  EXPECT_EQ((RuleRef{set.get(), 1}.pattern()), longest);
}

TEST(RuleSet, ReportsTextThatIsNoPattern) {
  RuleSet::Builder builder{"list.txt"};
  const auto added = builder.add_text("1.2.3.4", 3);
  ASSERT_FALSE(added);
  EXPECT_NE(added.error().message.find("allow_ip"), std::string::npos);
  EXPECT_EQ(std::move(builder).build()->size(), 0U);
}

TEST(RuleSet, RefusesNamesThatNoHostCanHave) {
  RuleSet::Builder builder{"list.txt"};
  Pattern pattern = *Pattern::parse("a.com");
  pattern.name.assign(Host::max_length + 1, 'a');
  EXPECT_THROW(builder.add(pattern, 1), std::length_error);
}

TEST(RuleSet, TakesNamesWithTheMostLabels) {
  std::string name = "a";
  for (int i = 0; i < 126; ++i) name += ".a";
  const auto set = rule_set({name, ".a", "*." + name.substr(2)});
  EXPECT_EQ(covering(*set, name), (Patterns{name, "*." + name.substr(2), ".a"}));
}

// What a pattern says, without any table.
bool covers(const Pattern& pattern, std::string_view name) {
  const bool is_below = name.size() > pattern.name.size() && name.ends_with(pattern.name) &&
                        name[name.size() - pattern.name.size() - 1] == '.';
  switch (pattern.kind) {
    case Pattern::Kind::exact:
      return name == pattern.name;
    case Pattern::Kind::suffix:
      return name == pattern.name || is_below;
    case Pattern::Kind::below:
      return is_below;
    case Pattern::Kind::any:
      return true;
    case Pattern::Kind::regex:
      break;
  }
  return false;
}

TEST(RuleSet, AgreesWithASearchThroughAllPatterns) {
  std::mt19937 random{3};
  const auto random_name = [&] {
    std::string name;
    const auto labels = 1 + random() % 4;
    for (std::uint32_t i = 0; i < labels; ++i) {
      name += (i == 0 ? "" : ".") +
              std::string(1 + random() % 2, static_cast<char>('a' + random() % 3));
    }
    return name;
  };
  const std::string prefixes[] = {"", ".", "*.", "http://", "http://.", "tcp://"};
  const std::string ports[] = {"", ":1", ":2"};
  for (int round = 0; round < 300; ++round) {
    Patterns patterns;
    std::vector<Pattern> parsed;
    for (auto count = random() % 40; count > 0; --count) {
      const std::string text = random() % 50 == 0
                                   ? "*"
                                   : prefixes[random() % std::size(prefixes)] + random_name() +
                                         ports[random() % std::size(ports)];
      const auto pattern = Pattern::parse(text);
      if (!pattern) continue;
      const auto is_same = [&](const Pattern& other) { return other.text() == pattern->text(); };
      if (std::any_of(parsed.begin(), parsed.end(), is_same)) continue;
      patterns.push_back(text);
      parsed.push_back(*pattern);
    }
    const auto set = rule_set(patterns);
    for (int i = 0; i < 30; ++i) {
      const std::string name = random_name();
      Patterns expected;
      for (const Pattern& pattern : parsed) {
        if (covers(pattern, name)) expected.push_back(pattern.text());
      }
      Patterns found = covering(*set, name);
      std::sort(found.begin(), found.end());
      std::sort(expected.begin(), expected.end());
      ASSERT_EQ(found, expected) << name;
    }
  }
}

TEST(RuleSet, NeedsAtMost64BytesARuleBesideTheNames) {
  for (const std::uint32_t count : {1000U, 30000U, 100000U}) {
    RuleSet::Builder builder{"list.txt"};
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto added = builder.add_text("host" + std::to_string(i) + ".example.com", i + 1);
      ASSERT_TRUE(added);
    }
    const auto set = std::move(builder).build();
    EXPECT_LE(set->memory_bytes() - set->name_bytes(), std::size_t{64} * count + 1024);
  }
}

}  // namespace
}  // namespace stile::acl
