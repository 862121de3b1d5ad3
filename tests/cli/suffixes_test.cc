// suffixes: where one suffix would cover several hosts.
#include "cli/suffixes.h"

#include <gtest/gtest.h>

namespace stile::cli {
namespace {

using Names = std::vector<std::string>;

struct Case {
  const char* what;
  Names hosts;
  Names suffixes;
};

TEST(Suffixes, CoverHostsBelowOneRegisteredName) {
  const std::vector<Case> cases{
      {"one host needs none", {"a.example.com"}, {}},
      {"the longest that both have", {"a.b.example.com", "c.b.example.com"}, {".b.example.com"}},
      {"a name and what is below it", {"example.com", "www.example.com"}, {".example.com"}},
      {"labels are compared, not letters", {"notexample.com", "example.com"}, {}},
      {"a shared ending inside a label", {"xb.example.com", "yb.example.com"}, {".example.com"}},
      {"different owners below com", {"example.com", "example.net", "other.com"}, {}},
      {"different owners below co.uk", {"a.co.uk", "b.co.uk"}, {}},
      {"different owners below github.io", {"alice.github.io", "mallory.github.io"}, {}},
      {"one owner below co.uk", {"x.a.co.uk", "y.a.co.uk"}, {".a.co.uk"}},
      {"a public suffix itself", {"github.io", "co.uk"}, {}},
      {"top-level names", {"localhost", "test"}, {}},
      {"two owners, one suffix each",
       {"a.one.org", "b.one.org", "a.two.org", "b.two.org"},
       {".one.org", ".two.org"}},
  };
  for (const auto& [what, hosts, suffixes] : cases) {
    Names found;
    for (const auto& suffix : find_suffixes(hosts)) found.push_back(suffix.pattern);
    EXPECT_EQ(found, suffixes) << what;
  }
}

TEST(Suffixes, NameTheHostsTheyCover) {
  const auto found = find_suffixes({"a.example.com", "b.example.com", "other.org"});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].covers, (Names{"a.example.com", "b.example.com"}));
}

}  // namespace
}  // namespace stile::cli
