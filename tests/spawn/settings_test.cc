// spawner.toml: the operator's templates.
#include "spawn/settings.h"

#include <gtest/gtest.h>

namespace stile::spawn {
namespace {

config::Checked<config::Profile> some_profile(const std::string& name) {
  return config::parse_profile(
      "allow = [\"api.example.com\"]\nread = [\"~/.x\"]\n"
      "[environment]\nA = \"profile\"\nB = \"profile\"\n",
      name, name + ".toml");
}

config::Checked<SpawnSettings> settings_of(std::string_view text) {
  return parse_settings(text, "spawner.toml", some_profile);
}

TEST(SpawnSettings, EmptyFileHasADefaultTemplateThatReachesNothing) {
  const auto settings = settings_of("");
  ASSERT_TRUE(settings) << settings.error().text();
  EXPECT_EQ(settings->max_workers, 10U);
  EXPECT_EQ(settings->allowed_workspaces, std::vector<std::string>{"/mnt/agents"});
  EXPECT_EQ(settings->spawn_cooldown_seconds, 5U);
  const auto* from = settings->find("default");
  ASSERT_NE(from, nullptr);
  EXPECT_TRUE(from->permissions.agent.allow.empty());
  EXPECT_TRUE(from->task.empty());
  EXPECT_EQ(settings->find("other"), nullptr);
}

TEST(SpawnSettings, TemplateJoinsItsProfile) {
  const auto settings = settings_of(R"(
max_workers = 3
allowed_workspaces = ["/srv/a/", "/srv/b"]
[templates.default]
command = ["sleep", "infinity"]
task = ["opencode", "run"]
profile = "opencode"
allowed_hosts = [".example.org"]
http_ports = [80]
ttl_seconds = 60
narrow = ["allowed_hosts", "tags"]
[templates.default.environment]
B = "own"
[templates.default.resource_limits]
memory_mb = 64
)");
  ASSERT_TRUE(settings) << settings.error().text();
  EXPECT_EQ(settings->allowed_workspaces, (std::vector<std::string>{"/srv/a", "/srv/b"}));
  const auto* from = settings->find("default");
  EXPECT_EQ(from->permissions.agent.allow.size(), 2U);
  EXPECT_EQ(from->permissions.launch.environment,
            (std::vector<config::Variable>{{"A", "profile"}, {"B", "own"}}));
  EXPECT_EQ(from->permissions.launch.limits.memory_mb, 64U);
  EXPECT_TRUE(from->permissions.launch.read.empty());  // a worker has a home of its own
  EXPECT_EQ(config::json_text(from->card),
            R"({"http_ports":[80],"allowed_hosts":[".example.org","api.example.com"]})");
}

TEST(SpawnSettings, SaysWhereAProfileIsNamedThatCannotBeUsed) {
  const auto settings =
      parse_settings("max_workers = 2\n[templates.b]\nprofile = \"nope\"\n", "spawner.toml",
                     [](const std::string& name) { return config::load_profile(name, {"/none"}); });
  ASSERT_FALSE(settings);
  const auto text = settings.error().text();
  EXPECT_NE(text.find("there is no profile nope in /none"), std::string::npos) << text;
  EXPECT_NE(text.find("spawner.toml:3:11: templates.b.profile: the profile cannot be used"),
            std::string::npos)
      << text;
}

TEST(SpawnSettings, RefusesWhatWouldBeSilentlyIgnored) {
  for (const auto* text :
       {"max_worker = 1", "max_workers = 0", "allowed_workspaces = [\"/\"]",
        "allowed_workspaces = [\"relative\"]", "[templates]\ndefault = 1",
        "[templates.default]\nsource = [\"10.200.0.2\"]", "[templates.default]\nagent_id = \"a\"",
        "[templates.default]\nworkspace = \"/w\"", "[templates.default]\nnarrow = [\"command\"]",
        "[templates.default]\nallowed_host = []", "[templates.default]\nallowed_hosts = [\"a b\"]",
        "[templates.default]\nttl_seconds = -1", "[templates.\"a/b\"]\ntask = []"}) {
    EXPECT_FALSE(settings_of(text)) << text;
  }
}

}  // namespace
}  // namespace stile::spawn
