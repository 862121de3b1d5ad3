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

}  // namespace
}  // namespace stile::confine
