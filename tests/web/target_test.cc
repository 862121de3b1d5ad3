// Targets and cookies: bytes of a browser to values.
#include "web/target.h"

#include <gtest/gtest.h>

namespace stile::web {
namespace {

TEST(ParseTarget, SplitsPathAndQuery) {
  const auto target = parse_target("/api/v1/events?agent=a%2Fb&host=&whole=1");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/api/v1/events");
  EXPECT_EQ(target->value("agent"), "a/b");
  EXPECT_EQ(target->value("host"), "");
  EXPECT_EQ(target->value("whole"), "1");
  EXPECT_EQ(target->value("other"), "");
}

TEST(ParseTarget, RefusesWhatIsAmbiguousOrMalformed) {
  std::string many = "/?";
  for (std::size_t i = 0; i <= max_query_members; ++i) many += 'k' + std::to_string(i) + "=1&";
  for (const auto& text : {std::string{}, std::string{"*"}, std::string{"http://a/"},
                           std::string{"/?a=%"}, std::string{"/?a=%4"}, std::string{"/?a=%zz"},
                           std::string{"/?a=1&a=2"}, std::string{"/?a=1&%61=2"}, many}) {
    EXPECT_FALSE(parse_target(text)) << text;
  }
}

TEST(ParseTarget, HoldsItsPromiseWhereverTheTextIsCut) {
  const std::string text = "/api/v1/hosts?agent=alpha&host=%61.test%00&x";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    const auto target = parse_target(text.substr(0, size));
    const bool is_in_escape =
        size > 1 && text.find('%') < size && (text[size - 1] == '%' || text[size - 2] == '%');
    EXPECT_EQ(target.has_value(), !is_in_escape) << text.substr(0, size);
  }
}

TEST(CookieValue, FindsTheWholeNameOnly) {
  EXPECT_EQ(cookie_value("stile-web=abc", "stile-web"), "abc");
  EXPECT_EQ(cookie_value("a=1; stile-web=abc; b=2", "stile-web"), "abc");
  EXPECT_EQ(cookie_value("a=1;stile-web=a=b", "stile-web"), "a=b");
  EXPECT_EQ(cookie_value("xstile-web=abc; stile-web2=d", "stile-web"), "");
  EXPECT_EQ(cookie_value("stile-web", "stile-web"), "");
  EXPECT_EQ(cookie_value("", "stile-web"), "");
}

TEST(CookieValue, HasNoneWhereTheNameAppearsTwice) {
  EXPECT_EQ(cookie_value("stile-web=abc; stile-web=def", "stile-web"), "");
}

}  // namespace
}  // namespace stile::web
