// Absolute-form targets: what is cut out of them, and what is refused.
#include <gtest/gtest.h>

#include "proxy/http/head.h"

namespace stile::http {
namespace {

TEST(AbsoluteTarget, IsCutIntoAuthorityPathAndQuery) {
  struct Case {
    const char *target, *authority, *path_and_query, *path;
    bool has_path_or_query = true;
  };
  const Case cases[]{
      {"http://a.test/x/y?q=1", "a.test", "/x/y?q=1", "/x/y"},
      {"HTTP://A.test:8080/", "A.test:8080", "/", "/"},
      {"hTtP://a.test", "a.test", "/", "/", false},
      {"http://a.test?q", "a.test", "?q", "/"},
      {"http://a.test/?q?r/s", "a.test", "/?q?r/s", "/"},
      {"http://a.test//b.test/", "a.test", "//b.test/", "//b.test/"},
      {"http://a.test/@b.test/", "a.test", "/@b.test/", "/@b.test/"},
      {"http://a.test?@b.test", "a.test", "?@b.test", "/"},
      {"http://[::1]/", "[::1]", "/", "/"},
      {"http://a.test:/", "a.test:", "/", "/"},  // left to the authority's own parser
      {"http://a.test/%00%0d%0a", "a.test", "/%00%0d%0a", "/%00%0d%0a"},
  };
  for (const Case& c : cases) {
    const auto target = parse_absolute_target(c.target);
    ASSERT_TRUE(target) << c.target;
    EXPECT_EQ(target->authority, c.authority) << c.target;
    EXPECT_EQ(target->path_and_query, c.path_and_query) << c.target;
    EXPECT_EQ(target->path, c.path) << c.target;
    EXPECT_EQ(target->has_path_or_query, c.has_path_or_query) << c.target;
  }
}

TEST(AbsoluteTarget, IsRefusedWhenHostsCouldBeReadTwoWays) {
  for (const char* target : {"",
                             "/",
                             "*",
                             "a.test:443",
                             "http:",
                             "http:/",
                             "http://",
                             "http:///",
                             "http:///a.test/",
                             "http://?q",
                             "https://a.test/",
                             "ftp://a.test/",
                             "http:a.test/",
                             "http:/a.test/",
                             "//a.test/",
                             "http:\\\\a.test/",
                             "http://a.test\\@b.test/",
                             "http://a.test/\\",
                             "http://user@a.test/",
                             "http://user:secret@a.test/",
                             "http://@a.test/",
                             "http://a.test@b.test?x",
                             "http://a.test#@b.test/",
                             "http://a.test/#x",
                             "http://a.test/x#",
                             " http://a.test/",
                             "http://a.test/ x",
                             "http://a.test/\t",
                             "http://a.test/\x7f",
                             "http://a.test/\x80",
                             "http://\xef\xbd\x81.test/",
                             "view-source:http://a.test/"}) {
    EXPECT_FALSE(parse_absolute_target(target)) << target;
  }
  EXPECT_FALSE(parse_absolute_target({"http://a\0b/", 11}));
}

}  // namespace
}  // namespace stile::http
