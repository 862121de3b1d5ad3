// LookAlikes: imitations of allowed names, and what is none.
#include "acl/look_alike.h"

#include <gtest/gtest.h>

#include "tests/acl/policies.h"

namespace stile::acl {
namespace {

TEST(LookAlike, FindsImitations) {
  const std::vector<std::string> allowed{".github.com", "api.anthropic.com:8443", "example.com"};
  const auto names = LookAlikes::of(test::rules(allowed));
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
    EXPECT_EQ(names->find(host), imitated) << host;
  }
}

TEST(LookAlike, LeavesOthersAlone) {
  const std::vector<std::string> allowed{".github.com", "a.test", "*", "~^g.*$", "db"};
  const auto names = LookAlikes::of(test::rules(allowed));
  for (const char* host : {"gitlab.com", "api.github.com", "github.com", "b.test",
                           "githubusercontent.com", "x.a.test", "db.internal", "pypi.org"}) {
    EXPECT_EQ(names->find(host), "") << host;
  }
}

TEST(LookAlike, ComparesABoundedNumberOfNames) {
  std::vector<std::string> allowed(LookAlikes::max_names, "other.test");
  allowed.push_back("example.com");
  EXPECT_EQ(LookAlikes::of(test::rules(allowed))->find("exmaple.com"), "");
  EXPECT_EQ(LookAlikes::of(test::rules({})), nullptr);
}

}  // namespace
}  // namespace stile::acl
