// Coverage: which pattern names all, or any, of what another one names.
#include "control/coverage.h"

#include <gtest/gtest.h>

#include "tests/control/live.h"

namespace stile::control {
namespace {

acl::Pattern pattern(const char* text) { return *acl::Pattern::parse(text); }

struct Row {
  const char* wide;
  const char* narrow;
  bool covers;
};
constexpr Row rows[] = {
    {"a.test", "a.test", true},
    {"a.test", "b.test", false},
    {"a.test", ".a.test", false},
    {".a.test", "a.test", true},
    {".a.test", "*.a.test", true},
    {".a.test", "x.a.test", true},
    {".a.test", ".x.a.test", true},
    {".a.test", "nota.test", false},
    {"*.a.test", "a.test", false},
    {"*.a.test", ".a.test", false},
    {"*.a.test", "*.a.test", true},
    {"*.a.test", ".x.a.test", true},
    {"*", "a.test", true},
    {"*", "~x", true},
    {"*.a.test", "*", false},
    {"~x", "~x", true},
    {"~x", "x", false},
    {"a.test", "a.test:8443", true},
    {"a.test:8443", "a.test", false},
    {"a.test:8443", "a.test:8443", true},
    {"a.test:8443", "a.test:9443", false},
    {"a.test:8080", "http://a.test:8080", false},
    {"a.test:22", "tcp://a.test:22", true},
};

TEST(Coverage, FollowsLabelsPortsAndSchemes) {
  for (const auto& [wide, narrow, expected] : rows) {
    EXPECT_EQ(covers(pattern(wide), pattern(narrow)), expected) << wide << " over " << narrow;
  }
}

constexpr const char* coverage_config = R"(
[[agent]]
id = "a"
source = ["10.0.0.1"]
allow = ["one.test", ".two.test", "p.test:8443", "~^r[0-9]\\.test$"]
deny = ["one.test", ".two.test", "p.test:8443", "~^r[0-9]\\.test$", "*.below.test"]
)";

struct ListRow {
  const char* pattern;
  bool denied_wholly;
  bool allows_any;
};
constexpr ListRow list_rows[] = {
    {"one.test", true, true},    {".one.test", false, true},  // below one.test nothing is denied
    {"two.test", true, true},    {"x.two.test", true, true},    {"*.two.test", true, true},
    {".two.test", true, true},   {"test", false, false},        {".test", false, true},
    {"*", false, true},          {"p.test", false, true},  // its other ports are free
    {"p.test:8443", true, true}, {"p.test:9443", false, false}, {"r7.test", true, true},
    {"r77.test", false, false},  {".free.test", false, true},  // a regex may name something there
    {"free.test", false, false}, {"*.below.test", true, true},  {"below.test", false, false},
};

TEST(Coverage, KnowsWhatListsDenyAndAllow) {
  const auto live = live_of(coverage_config);
  const acl::AgentPolicy& policy = **live.snapshot()->by_id("a");
  for (const auto& row : list_rows) {
    EXPECT_EQ(denied_wholly(policy.deny, pattern(row.pattern)).has_value(), row.denied_wholly)
        << row.pattern;
    EXPECT_EQ(allows_any_of(policy.allow, pattern(row.pattern)), row.allows_any) << row.pattern;
  }
}

TEST(Coverage, NamesTheRuleAndItsPlace) {
  const auto live = live_of(coverage_config);
  const acl::AgentPolicy& policy = **live.snapshot()->by_id("a");
  EXPECT_EQ(denied_wholly(policy.deny, pattern("x.two.test")), ".two.test (t.toml:6)");
}

}  // namespace
}  // namespace stile::control
