// Whether workers are confined, from what spawner and daemon say.
#include "mcp/containment.h"

#include <gtest/gtest.h>

using namespace stile;
using mcp::containment;

namespace {

const Json daemon_status{{"version", "1"}, {"mode", "enforce"}, {"draining", false}};

Json agent(const char* mode) {
  return Json{{"id", "a"},
              {"mode", mode},
              {"connections", 2},
              {"grants", Json::list()},
              {"counters", Json{{"requests_allowed", 3}, {"requests_denied", 4}}}};
}

TEST(McpContainment, IsWholeWhenEachPolicyIsEnforced) {
  const Json said = containment(daemon_status, "", {{"a", "running", agent("enforce")}});
  EXPECT_EQ(said.dump(),
            R"({"contained":true,"daemon":{"version":"1","mode":"enforce","draining":false},)"
            R"("workers":[{"worker":"a","contained":true,"problems":[],"mode":"enforce",)"
            R"("connections":2,"grants":0,"requests_allowed":3,"requests_denied":4}]})");
  EXPECT_TRUE(
      flag_of(containment(daemon_status, "", {{"a", "running", agent("offline")}}), "contained"));
}

TEST(McpContainment, ObserveModeIsAHole) {
  const Json said = containment(
      daemon_status, "", {{"a", "running", agent("enforce")}, {"b", "running", agent("observe")}});
  EXPECT_FALSE(flag_of(said, "contained"));
  EXPECT_TRUE(flag_of(list_of(said, "workers").items()[0], "contained"));
  EXPECT_FALSE(flag_of(list_of(said, "workers").items()[1], "contained"));
  const Json everywhere{{"version", "1"}, {"mode", "observe"}};
  EXPECT_FALSE(
      flag_of(containment(everywhere, "", {{"a", "running", agent("enforce")}}), "contained"));
}

TEST(McpContainment, WhatCannotBeSeenCountsAsAHole) {
  const Json said = containment({}, "no daemon at /x", {{"a", "running", {}}});
  EXPECT_FALSE(flag_of(said, "contained"));
  EXPECT_EQ(joined(list_of(list_of(said, "workers").items()[0], "problems")),
            "unknown: no daemon at /x");
  EXPECT_FALSE(has(said, "daemon"));
}

TEST(McpContainment, AnUnknownWorkerReachesNothing) {
  const Json said = containment(daemon_status, "", {{"a", "running", {}}});
  EXPECT_TRUE(flag_of(said, "contained"));
  EXPECT_EQ(list_of(list_of(said, "workers").items()[0], "problems").size(), 1U);
}

}  // namespace
