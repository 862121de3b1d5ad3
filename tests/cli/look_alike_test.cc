// look_alike: imitations of allowed names, and what is none.
#include "cli/look_alike.h"

#include <gtest/gtest.h>

namespace stile::cli {
namespace {

TEST(LookAlike, FindsImitations) {
  const std::vector<std::string> allowed{".github.com", "api.anthropic.com:8443", "example.com"};
  for (const auto& [host, imitated] :
       std::vector<std::pair<const char*, const char*>>{{"githb.com", "github.com"},
                                                        {"api.githud.com", "github.com"},
                                                        {"g1thub.com", "github.com"},
                                                        {"github.co", "github.com"},
                                                        {"github.com.evil.example", "github.com"},
                                                        {"anthroplc.com", "api.anthropic.com"},
                                                        {"antrhopic.com", "api.anthropic.com"},
                                                        {"exmaple.com", "example.com"},
                                                        {"exarnple.com", "example.com"}}) {
    EXPECT_EQ(look_alike(host, allowed), imitated) << host;
  }
}

TEST(LookAlike, LeavesOthersAlone) {
  const std::vector<std::string> allowed{".github.com", "a.test", "*", "~^g.*$", "db"};
  for (const char* host : {"gitlab.com", "api.github.com", "github.com", "b.test",
                           "githubusercontent.com", "x.a.test", "db.internal", "pypi.org"}) {
    EXPECT_EQ(look_alike(host, allowed), "") << host;
  }
}

}  // namespace
}  // namespace stile::cli
