// A file from a less trusted author takes away, and never adds.
#include "config/narrow.h"

#include <gtest/gtest.h>

namespace stile::config {
namespace {

constexpr UnixMicros narrowed_at = 1'000'000'000'000'000;
constexpr UnixMicros one_second = 1'000'000;

std::vector<PlacedPattern> pattern_list(const std::vector<std::string>& texts) {
  std::vector<PlacedPattern> list;
  for (const auto& text : texts) list.push_back({*acl::Pattern::parse(text), 0});
  return list;
}

Permissions wide() {
  Permissions permissions;
  permissions.agent.allow = pattern_list(
      {".example.com", "a.test:8443", "http://h.test", "tcp://db.test:5432", "~^x[0-9]$"});
  permissions.agent.allow_files = {"/lists/more"};
  permissions.agent.allow_ip = {acl::Address::v4(0x08080808)};
  permissions.agent.expires = narrowed_at + 100 * one_second;
  permissions.ports = {443, 9443};
  permissions.launch.environment = {{"A", "1"}, {"B", "2"}};
  permissions.launch.read = {"/srv/data"};
  permissions.launch.write = {"/srv/out"};
  permissions.launch.limits.memory_mb = 100;
  permissions.workspace = "/work";
  return permissions;
}

Checked<Permissions> narrowed(std::string_view text) {
  const auto restriction = parse_restriction(text, "r.json", "/work");
  if (!restriction) return restriction.error();
  return narrow(wide(), *restriction, narrowed_at);
}

TEST(Narrow, NothingSaidChangesNothing) {
  const auto result = narrowed("{}");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->agent, wide().agent);
  EXPECT_EQ(result->workspace_access, WorkspaceAccess::write);
  EXPECT_EQ(result->launch.read, wide().launch.read);
}

TEST(Narrow, WhatWouldWidenIsAnError) {
  const char* texts[] = {
      R"({"allowed_hosts": ["*"]})",
      R"({"allowed_hosts": [".com"]})",
      R"({"allowed_hosts": ["other.test"]})",
      R"({"allowed_hosts": ["notexample.com"]})",
      R"({"allowed_hosts": ["x.example.com:8443"]})",       // not one of the ports
      R"({"allowed_hosts": ["http://x.example.com"]})",     // no http_ports
      R"({"allowed_hosts": ["tcp://x.example.com:443"]})",  // without TLS
      R"({"allowed_hosts": ["a.test"]})",                   // all ports instead of one
      R"({"allowed_hosts": ["tcp://a.test:8443"]})",
      R"({"allowed_hosts": ["tcp://db.test:5433"]})",
      R"({"allowed_hosts": ["~^x[0-9]+$"]})",
      R"({"allowed_hosts": ["x1"]})",  // a regex covers only itself
      R"({"read": ["/"]})",
      R"({"read": ["/srv"]})",
      R"({"read": ["/srv/database"]})",
      R"({"read": ["/home/u/.ssh"]})",
      R"({"write": ["/srv/data"]})",
      R"({"write": ["/srv/data/x"]})",
      R"({"write": ["/workspaces"]})",
      R"({"environment": {"A": "2"}})",
      R"({"environment": {"LD_PRELOAD": "x"}})",
      R"({"resource_limits": {"memory_mb": 101}})",
  };
  for (const auto* text : texts) EXPECT_FALSE(narrowed(text)) << text;
}

TEST(Narrow, WhatCannotBeReadIsAnError) {
  const char* texts[] = {
      "",
      "[]",
      "{",
      R"({"allowed_hosts": ["x"], "allowed_hosts": []})",
      R"({"secrets": []})",
      R"({"request": []})",
      R"({"can": []})",
      R"({"allow": ["x.example.com"]})",
      R"({"allow_ip": []})",
      R"({"command": ["sh"]})",
      R"({"workspace": "/"})",
      R"({"expose": []})",
      R"({"mode": "observe"})",
      R"({"private_exceptions": []})",
      R"({"read": ["../x"]})",
      R"({"read": ["a/../../x"]})",
      R"({"read": ["/workspace/../etc"]})",
      R"({"read": [""]})",
      R"({"read": [7]})",
      R"({"read": ["a\u0000b"]})",
      R"({"write": "out"})",
      R"({"ttl_seconds": 0})",
      R"({"ttl_seconds": -1})",
      R"({"network": "yes"})",
      R"({"resource_limits": {"memory_mb": 0}})",
  };
  for (const auto* text : texts) EXPECT_FALSE(narrowed(text)) << text;
  const std::string large =
      R"({"denied_hosts": [")" + std::string(max_restriction_bytes, 'a') + "\"]}";
  EXPECT_FALSE(parse_restriction(large, "r.json", "/work"));
}

TEST(Narrow, HostsAreThoseOfTheFileAloneThen) {
  const auto result = narrowed(
      R"({"allowed_hosts": ["x.example.com", "*.example.com", "y.example.com:9443", "a.test:8443",
                            "http://h.test", "tcp://db.test:5432"], "denied_hosts": ["z.test"]})");
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->agent.allow.size(), 6U);
  EXPECT_EQ(result->agent.allow[0].pattern.text(), "x.example.com");
  EXPECT_TRUE(result->agent.allow_files.empty());
  EXPECT_TRUE(result->agent.allow_ip.empty());
  EXPECT_EQ(result->agent.deny.size(), 1U);
}

TEST(Narrow, HostsOfRequestRulesAreCoveredOrAnError) {
  auto permissions = wide();
  RequestSettings rule;
  rule.host = {*acl::Pattern::parse("api.example.com"), 0};
  permissions.agent.request = {rule};
  const auto narrow_to = [&](std::string_view text) {
    return narrow(permissions, *parse_restriction(text, "r.json", "/work"), narrowed_at);
  };
  EXPECT_FALSE(narrow_to(R"({"allowed_hosts": ["www.example.com"]})"));
  EXPECT_FALSE(narrow_to(R"({"allowed_hosts": ["api.example.com:9443"]})"));
  EXPECT_FALSE(narrow_to(R"({"allowed_hosts": []})"));
  const auto covered = narrow_to(R"({"allowed_hosts": ["api.example.com"]})");
  ASSERT_TRUE(covered);
  EXPECT_EQ(covered->agent.request, permissions.agent.request);
  EXPECT_TRUE(narrow_to(R"({"allowed_hosts": [".example.com"]})"));
}

TEST(Narrow, WithoutANetworkNothingIsLeftOfTheHosts) {
  const auto result = narrowed(R"({"network": false})");
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->agent.allow.empty() && result->agent.allow_files.empty() &&
              result->agent.allow_ip.empty());
  EXPECT_EQ(result->agent.mode, acl::Mode::offline);
}

TEST(Narrow, TheEarlierEndCounts) {
  EXPECT_EQ(narrowed(R"({"ttl_seconds": 10})")->agent.expires, narrowed_at + 10 * one_second);
  EXPECT_EQ(narrowed(R"({"ttl_seconds": 1000})")->agent.expires, narrowed_at + 100 * one_second);
}

TEST(Narrow, LimitsAndVariables) {
  const auto result = narrowed(
      R"({"resource_limits": {"memory_mb": 50, "max_processes": 9}, "environment": {"B": "2"}})");
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->launch.limits.memory_mb, 50U);
  EXPECT_EQ(result->launch.limits.max_processes, 9U);
  EXPECT_EQ(result->launch.environment, (std::vector<Variable>{{"B", "2"}}));
}

using Paths = std::vector<std::string>;

TEST(Narrow, Files) {
  struct Case {
    const char* text;
    Paths read, write;
    WorkspaceAccess access;
  };
  using enum WorkspaceAccess;
  const Case cases[] = {
      {R"({"read": ["."]})", {}, {}, WorkspaceAccess::write},
      {R"({"read": []})", {}, {}, none},
      {R"({"write": []})", {"/srv/data", "/srv/out"}, {}, WorkspaceAccess::read},
      {R"({"read": [".", "/srv/data/x"], "write": ["out/"]})",
       {"/srv/data/x"},
       {"/work/out"},
       WorkspaceAccess::read},
      {R"({"read": ["/workspace/src"], "write": []})", {"/work/src"}, {}, none},
      {R"({"write": ["/workspace"]})", {"/srv/data", "/srv/out"}, {}, WorkspaceAccess::write},
      {R"({"read": ["/srv/out"]})", {"/srv/out"}, {"/srv/out"}, none},
  };
  for (const auto& [text, read, write, access] : cases) {
    const auto result = narrowed(text);
    ASSERT_TRUE(result) << text << ": " << result.error().text();
    EXPECT_EQ(result->launch.read, read) << text;
    EXPECT_EQ(result->launch.write, write) << text;
    EXPECT_EQ(result->workspace_access, access) << text;
  }
}

}  // namespace
}  // namespace stile::config
