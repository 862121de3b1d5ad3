// What a reload makes different, in numbers.
#include "control/changes.h"

#include <gtest/gtest.h>

#include "tests/control/live.h"

namespace stile::control {
namespace {

std::string changes(const std::string& before, const std::string& now) {
  return describe(compare(base_of(before)->entries, base_of(now)->entries), 3);
}

constexpr const char* start =
    "[egress]\ndeny = [\"all.test\"]\n[[agent]]\nid = \"a\"\nsource = [\"10.0.0.1\"]\n"
    "allow = [\"x.test\", \"y.test\"]\ndeny = [\"z.test\"]\n";

TEST(Changes, AreCountedRuleByRule) {
  const std::string config = start;
  EXPECT_EQ(changes(config, config), "nothing changed");
  EXPECT_EQ(changes(config, "# a comment\n" + config), "nothing changed");
  EXPECT_EQ(changes("", config), "a +4 -0");
  EXPECT_EQ(changes(config, ""), "a +0 -4");
  EXPECT_EQ(changes(config, config + "ports = [8443]\n"), "a +0 -0");
  EXPECT_EQ(changes(config,
                    "[egress]\ndeny = [\"all.test\", \"more.test\"]\n[[agent]]\nid = \"a\"\n"
                    "source = [\"10.0.0.1\"]\nallow = [\"y.test\", \".x.test\"]\n"
                    "deny = [\"z.test\"]\n"),
            "a +2 -1");
}

TEST(Changes, OfManyAgentsAreCutShort) {
  std::string config;
  for (int i = 1; i <= 5; ++i) {
    config += "[[agent]]\nid = \"a" + std::to_string(i) + "\"\nsource = [\"10.0.0." +
              std::to_string(i) + "\"]\nallow = [\"x.test\"]\n";
  }
  EXPECT_EQ(changes("", config), "a1 +1 -0, a2 +1 -0, a3 +1 -0, and 2 more");
}

}  // namespace
}  // namespace stile::control
