// What a card says to a launcher.
#include "config/launch.h"

#include <gtest/gtest.h>

namespace stile::config {
namespace {

Checked<LaunchSettings> launch_of(std::string_view text) {
  return parse_launch(text, {"c.json", 0, "/cards"});
}

TEST(Launch, ReadsTheLaunchersKeysOfACard) {
  const auto launch =
      launch_of(R"({"agent_id": "a", "workspace": "/mnt/agents/a", "command": ["sh", "-c", "x y"],
    "environment": {"A_1": "b c"}, "api_provider": "anthropic", "api_key_file": "/run/secrets/key",
    "resource_limits": {"memory_mb": 4096, "cpu_percent": 200, "cpu_shares": 1024, "max_processes": 50,
    "max_open_files": 1024, "disk_mb": 100}, "read": ["/srv/data"], "write": ["out"], "tags": ["t"]})");
  ASSERT_TRUE(launch) << launch.error().text();
  EXPECT_EQ(launch->workspace, "/mnt/agents/a");
  EXPECT_EQ(launch->command, (std::vector<std::string>{"sh", "-c", "x y"}));
  EXPECT_EQ(launch->environment, (std::vector<Variable>{{"A_1", "b c"}}));
  EXPECT_EQ(launch->read, std::vector<std::string>{"/srv/data"});
  EXPECT_EQ(launch->write, std::vector<std::string>{"/cards/out"});
  EXPECT_EQ(launch->tags, std::vector<std::string>{"t"});
  EXPECT_EQ(launch->limits, (ResourceLimits{4096, 200, 1024, 50, 1024, 100}));
}

TEST(Launch, RefusesWhatItCannotUse) {
  struct Case {
    const char* text;
    const char* problem;
  };
  const Case cases[] = {
      {R"({"workspace": 7})", "workspace"},
      {R"({"workspace": ""})", "must not be empty"},
      {R"({"command": "sh"})", "a list"},
      {R"({"command": ["a\u0000b"]})", "NUL"},
      {R"({"environment": {"A": "a\u0000b"}})", "NUL"},
      {R"({"tags": ["a\nb"]})", "control character"},
      {R"({"environment": {"A=B": "c"}})", "not a name"},
      {R"({"environment": {"": "c"}})", "not a name"},
      {R"({"environment": {"A": 1}})", "a string"},
      {R"({"environment": ["A"]})", "a table"},
      {R"({"resource_limits": {"memory": 1}})", "did you mean memory_mb?"},
      {R"({"resource_limits": {"memory_mb": -1}})", "out of range"},
      {R"({"resource_limits": {"memory_mb": "4096"}})", "an integer"},
      {R"({"resource_limits": []})", "a table"},
      {R"({"read": ["a", "a"]})", "twice"},
      {R"({"api_key_file": "/k"})", "variable"},
      {R"({"api_key_file": "/k", "api_provider": "ollama"})", "variable"},
  };
  for (const auto& [text, problem] : cases) {
    const auto launch = launch_of(text);
    ASSERT_FALSE(launch) << text;
    EXPECT_NE(launch.error().text().find(problem), std::string::npos)
        << text << ": " << launch.error().text();
  }
}

}  // namespace
}  // namespace stile::config
