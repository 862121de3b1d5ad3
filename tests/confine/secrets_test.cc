// Which names are covered in what is shown.
#include <gtest/gtest.h>

#include "confine/plan.h"

namespace stile::confine {
namespace {

struct SecretCase {
  const char* directory;
  const char* name;
  bool is_directory;
  bool is_covered;
};

TEST(ConfineSecrets, CoversNamesThatUsuallyHoldKeys) {
  const SecretCase cases[] = {
      {"u", ".ssh", true, true},
      {"u", ".gnupg", true, true},
      {"u", ".aws", true, true},
      {"u", ".netrc", false, true},
      {"project", ".env", false, true},
      {"project", ".envrc", false, true},
      {"project", ".env.local", false, true},
      {"project", ".env-prod", false, true},
      {"project", ".env", true, false},           // a Python environment
      {"project", ".env.example", false, false},  // in the repository, without values
      {"project", ".environment", false, false},
      {"project", "env", false, false},
      {".docker", "config.json", false, true},
      {"project", "config.json", false, false},
      {"project", ".docker", true, false},
      {".cargo", "credentials.toml", false, true},
      {".config", "gh", true, true},
      {"src", "gh", true, false},
      {"share", "keyrings", true, true},
      {"project", ".git", true, false},
  };
  for (const auto& [directory, name, is_directory, is_covered] : cases) {
    EXPECT_EQ(is_secret(directory, name, is_directory), is_covered) << directory << '/' << name;
  }
}

TEST(ConfineSecrets, AreThoseBelowThePlacesThatAreShown) {
  const std::vector<std::string> shown{"/srv/data", "/home/u/.config", "/work", "/work/keys/.env"};
  const std::pair<const char*, bool> cases[] = {
      {"/work/.env", true},
      {"/work/a/.ssh", true},
      {"/work/a/.ssh/id", true},
      {"/work/.docker/config.json", true},
      {"/work/config.json", false},
      {"/work/.env/lib", false},   // a Python environment
      {"/work/keys/.env", false},  // named itself
      {"/work", false},
      {"/home/u/.config/gh", true},
      {"/home/u/.config/gh/hosts.yml", true},
      {"/home/u/.config/other", false},
      {"/srv/data/.aws/x", true},
      {"/elsewhere/.env", false},
  };
  for (const auto& [path, is_hidden] : cases)
    EXPECT_EQ(is_in_secret(path, shown), is_hidden) << path;
}

}  // namespace
}  // namespace stile::confine
