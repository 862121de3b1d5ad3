// Profiles of known agents.
#include "config/profile.h"

#include <gtest/gtest.h>

#include "tests/config/temp_folder.h"

namespace stile::config {
namespace {

const std::vector<std::string> shipped_profiles{STILE_ROOT "/profiles"};

TEST(Profile, EveryShippedOneCanBeRead) {
  const std::vector<std::string> expected{"aider",  "claude",   "codex",
                                          "gemini", "opencode", "shell"};
  EXPECT_EQ(profile_names(shipped_profiles), expected);
  for (const auto& name : expected) {
    const auto profile = load_profile(name, shipped_profiles);
    ASSERT_TRUE(profile) << profile.error().text();
    EXPECT_FALSE(profile->about.empty()) << name;
    for (const auto& placed : profile->allow) {
      EXPECT_EQ(placed.pattern.kind, acl::Pattern::Kind::exact) << name << ": a wide pattern";
    }
  }
}

TEST(Profile, TheUsersOwnComesFirst) {
  const TempFolder folder;
  folder.write("claude.toml", "about = 'mine'\n");
  const auto profile = load_profile("claude", {folder.path(), shipped_profiles[0]});
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->about, "mine");
}

TEST(Profile, SaysWhatAnOpenedHostMayBeAskedFor) {
  const auto codex = load_profile("codex", shipped_profiles);
  ASSERT_TRUE(codex) << codex.error().text();
  ASSERT_EQ(codex->requests.size(), 1U);
  EXPECT_TRUE(codex->requests[0].websocket);
  EXPECT_EQ(codex->requests[0].host.pattern.text(), codex->secrets[0].hosts[0].pattern.text());
}

TEST(Profile, HasCapabilities) {
  const auto profile =
      parse_profile("can = ['npm:install', 'git:fetch a.example/b/c']", "p", "p.toml");
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->can, (std::vector<std::string>{"npm:install", "git:fetch a.example/b/c"}));
}

TEST(Profile, NamesAreNoPaths) {
  for (const auto* name : {"", ".", "..", "../claude", "/etc/passwd", "a/b", ".hidden", "a b"}) {
    EXPECT_FALSE(is_profile_name(name)) << name;
    EXPECT_FALSE(has_profile(name, shipped_profiles)) << name;
    EXPECT_FALSE(load_profile(name, shipped_profiles)) << name;
  }
  EXPECT_FALSE(load_profile("unknown", shipped_profiles));
}

TEST(Profile, RefusesWhatItCannotUse) {
  struct Case {
    const char* text;
    const char* problem;
  };
  const Case cases[] = {
      {"alow = []", "did you mean allow?"},      {"read = ['.ssh']", "must begin with ~/"},
      {"write = ['~/../x']", "contain no .."},   {"allow = ['exa mple']", "allow"},
      {"environment = 'A=b'", "a table"},        {"about = 1", "a string"},
      {"request = [{methods = ['*']}]", "host"},
  };
  for (const auto& [text, problem] : cases) {
    const auto profile = parse_profile(text, "p", "p.toml");
    ASSERT_FALSE(profile) << text;
    EXPECT_NE(profile.error().text().find(problem), std::string::npos) << profile.error().text();
  }
}

}  // namespace
}  // namespace stile::config
