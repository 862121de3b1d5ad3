// A caller narrows a template, and never widens it.
#include "spawn/plan.h"

#include <gtest/gtest.h>

#include "config/json_loader.h"

namespace stile::spawn {
namespace {

constexpr UnixMicros planned_at = 1'700'000'000'000'000;

const Template& wide_template() {
  static const SpawnSettings settings = *parse_settings(
      R"(
[templates.default]
task = ["agent"]
allowed_hosts = [".example.com", "api.test"]
allow_ip = ["8.8.8.8"]
read = ["/srv/data"]
ttl_seconds = 600
narrow = ["read", "write", "allowed_hosts", "denied_hosts", "network", "ttl_seconds", "resource_limits", "environment", "tags"]
[templates.default.environment]
CI = "1"
[templates.default.resource_limits]
memory_mb = 100
[templates.strict]
allowed_hosts = ["api.test"]
)",
      "spawner.toml",
      [](const std::string& name) { return config::parse_profile("", name, name); });
  return *settings.find("default");
}

Result<WorkerPlan> planned(const std::string& card, const Template& from = wide_template()) {
  SpawnRequest request;
  request.action = SpawnAction::spawn;
  request.task_id = "alpha";
  if (!card.empty()) request.card = *config::parse_json(card, "card");
  return plan_worker(from, request, {"/mnt/agents/alpha", "00ff", 1000, planned_at});
}

TEST(SpawnPlan, WithoutACardTheTemplateIsTaken) {
  const auto plan = planned("");
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->card, R"({"allow_ip":["8.8.8.8"],"allowed_hosts":[".example.com","api.test"],)"
                        R"("denied_hosts":[],"agent_id":"alpha","ttl_seconds":600,)"
                        R"("created":"2023-11-14T22:13:20Z"})");
  EXPECT_EQ(plan->ttl_seconds, 600);
  EXPECT_EQ(plan->limits.memory_mb, 100U);
  EXPECT_EQ(plan->file.workspace, "/mnt/agents/alpha");
  EXPECT_EQ(plan->file.caller, 1000U);
  EXPECT_EQ(plan->file.task, std::vector<std::string>{"agent"});
}

TEST(SpawnPlan, ACardNarrows) {
  const auto plan = planned(
      R"({"allowed_hosts":["a.example.com"],"denied_hosts":["x.example.com"],"ttl_seconds":60,)"
      R"("resource_limits":{"memory_mb":50,"max_processes":5}})");
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_NE(plan->card.find(R"("allowed_hosts":["a.example.com"])"), std::string::npos);
  EXPECT_NE(plan->card.find(R"("denied_hosts":["x.example.com"])"), std::string::npos);
  EXPECT_EQ(plan->card.find("allow_ip"), std::string::npos);
  EXPECT_EQ(plan->ttl_seconds, 60);
  EXPECT_EQ(plan->limits.memory_mb, 50U);
  EXPECT_EQ(plan->limits.max_processes, 5U);
  EXPECT_NE(planned(R"({"network":false})")->card.find(R"("mode":"offline")"), std::string::npos);
}

TEST(SpawnPlan, ACardNarrowsTheFiles) {
  using config::WorkspaceAccess;
  using Paths = std::vector<std::string>;
  struct Case {
    const char* card;
    WorkspaceAccess workspace;
    Paths read, write;
  };
  const Case cases[]{
      {R"({})", WorkspaceAccess::write, {"/srv/data"}, {}},
      {R"({"read":["."]})", WorkspaceAccess::write, {}, {}},
      {R"({"read":["/workspace","/srv/data/a"],"write":[]})",
       WorkspaceAccess::read,
       {"/srv/data/a"},
       {}},
      {R"({"read":["src"],"write":["out"]})",
       WorkspaceAccess::none,
       {"/mnt/agents/alpha/src"},
       {"/mnt/agents/alpha/out"}},
      {R"({"read":[]})", WorkspaceAccess::none, {}, {}},
  };
  for (const auto& one : cases) {
    const auto plan = planned(one.card);
    ASSERT_TRUE(plan) << one.card << plan.error().message;
    EXPECT_EQ(plan->file.workspace_access, one.workspace) << one.card;
    EXPECT_EQ(plan->file.read, one.read) << one.card;
    EXPECT_EQ(plan->file.write, one.write) << one.card;
  }
  for (const auto* card :
       {R"({"read":["/srv"]})", R"({"write":["/srv/data"]})", R"({"write":["../beta"]})",
        R"({"read":["/workspace/../beta"]})", R"({"read":["/mnt/agents/alphabet"]})"}) {
    EXPECT_FALSE(planned(card)) << card;
  }
}

TEST(SpawnPlan, TellsTheLogWhatTheWorkerMayReachAndSee) {
  const auto plan = planned(R"({"allowed_hosts":["api.test"],"read":["src"],"write":[]})");
  ASSERT_TRUE(plan);
  const auto text = policy_text(*plan);
  EXPECT_NE(text.find(R"("allowed_hosts":["api.test"])"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with(", workspace hidden, read /mnt/agents/alpha/src")) << text;
  auto wide = *plan;
  wide.file.environment = {{"TOKEN", "planted"}};
  EXPECT_EQ(policy_text(wide), text);
  wide.file.write = {"/a", "/b"};
  EXPECT_EQ(policy_text(wide), text + ", write /a /b");
}

TEST(SpawnPlan, NothingWidens) {
  for (const auto* card :
       {R"({"allowed_hosts":["evil.test"]})", R"({"allowed_hosts":["*"]})",
        R"({"allowed_hosts":["api.test:8443"]})", R"({"allowed_hosts":["api.test:443"]})",
        R"({"ttl_seconds":601})", R"({"ttl_seconds":0})",
        R"({"resource_limits":{"memory_mb":101}})", R"({"environment":{"LD_PRELOAD":"/x"}})",
        R"({"command":["sh"]})", R"({"task":["sh"]})", R"({"workspace":"/etc"})",
        R"({"read":["/etc/shadow"]})", R"({"write":["/"]})", R"({"secrets":["anthropic"]})",
        R"({"agent_id":"beta"})", R"({"mode":"observe"})", R"({"tags":["x"]})", R"([])",
        R"("x")"}) {
    EXPECT_FALSE(planned(card)) << card;
  }
}

TEST(SpawnPlan, ATemplateThatListsNoKeysCannotBeChanged) {
  auto strict = wide_template();
  strict.narrow.clear();
  EXPECT_TRUE(planned("", strict));
  EXPECT_TRUE(planned("{}", strict));
  EXPECT_FALSE(planned(R"({"ttl_seconds":1})", strict));
  SpawnRequest request;
  request.task_id = "alpha";
  request.tags = {"x"};
  EXPECT_FALSE(plan_worker(strict, request, {"/w", "00", 0, planned_at}));
  EXPECT_EQ(plan_worker(wide_template(), request, {"/w", "00", 0, planned_at})->tags,
            std::vector<std::string>{"x"});
}

}  // namespace
}  // namespace stile::spawn
