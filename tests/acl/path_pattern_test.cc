// Paths of request rules, by tables.
#include "acl/path_pattern.h"

#include <gtest/gtest.h>

namespace stile::acl {
namespace {

TEST(PathPattern, MatchesThePathAsItWasSent) {
  const struct {
    std::string_view pattern, path;
    bool matches;
  } cases[] = {
      {"/", "/", true},
      {"/", "/x", false},
      {"/a/b", "/a/b", true},
      {"/a/b", "/a/b/", false},
      {"/a/b", "/A/b", false},
      {"/a/*", "/a/b", true},
      {"/a/*", "/a/", true},
      {"/a/*", "/a/b/c", false},
      {"/a/*/c", "/a/b/c", true},
      {"/a/*/c", "/a/b/b/c", false},
      {"/a/v*.json", "/a/v12.json", true},
      {"/a/v*.json", "/a/v12.xml", false},
      {"/a/**", "/a/", true},
      {"/a/**", "/a/b/c", true},
      {"/a/**", "/a", false},
      {"/a/**", "/ab", false},
      {"/**", "/anything/at/all", true},
      {"/**/info/refs", "/x/y/info/refs", true},
      {"/**/info/refs", "/x/y/info/refsx", false},
      {"/a**b*c/d", "/axx/yybzc/d", true},
      // An encoded byte is itself: a rule never decodes.
      {"/acme", "/%61cme", false},
      {"/a%20b", "/a%20b", true},
      // An encoded slash matches only where it is written, in either case.
      {"/@x%2fy", "/@x%2Fy", true},
      {"/@x%2fy", "/@x/y", false},
      {"/@x/y", "/@x%2fy", false},
      {"/*", "/a%2fb", false},
      {"/**", "/a%2fb", false},
      {"/@*%2f*", "/@x%2fy", true},
      {"/%2a", "/x", false},
  };
  for (const auto& [pattern, path, matches] : cases) {
    const auto parsed = PathPattern::parse(pattern);
    ASSERT_TRUE(parsed) << pattern << ": " << parsed.error().message;
    EXPECT_EQ(parsed->matches(path), matches) << pattern << " and " << path;
  }
}

TEST(PathPattern, RefusesWhatCouldNeverMatch) {
  for (const std::string_view text : {"", "a", "a/b", "/a/../b", "/a//b", "/a/./b", "/a\\b", "/%2e",
                                      "/a?x", "/a#x", "/a***", "/a b", "/\xc3\xa9", "/%zz"}) {
    EXPECT_FALSE(PathPattern::parse(text)) << text;
  }
  EXPECT_TRUE(PathPattern::parse('/' + std::string(PathPattern::max_length - 1, 'a')));
  EXPECT_FALSE(PathPattern::parse('/' + std::string(PathPattern::max_length, 'a')));
}

TEST(PathPattern, TakesNoLongerForManyWildcards) {
  const auto pattern = PathPattern::parse("/**a**a**a**a**a**a**a**a**b");
  ASSERT_TRUE(pattern);
  EXPECT_FALSE(pattern->matches('/' + std::string(50'000, 'a')));
}

TEST(IsPlainPath, RefusesPathsThatServersReadInDifferentWays) {
  for (const std::string_view path : {"/", "/a", "/a/", "/a/b.c", "/...", "/a..b", "/.well-known/x",
                                      "/a;v=1/b", "/a%20b", "/%C3%A9", "/a%2fb", "/a%2F", "/a/%2fb",
                                      "/a%2fb..%2f...", "/a;/b", "/100%25", "/~x/(y)'!*"}) {
    EXPECT_TRUE(is_plain_path(path)) << path;
  }
  for (const std::string_view path :
       {"",       "*",      "a",      "//",     "/a//b",    "//a",    "/.",   "/..",
        "/a/./b", "/a/..",  "/..;/a", "/.;x/a", "/a\\b",    "/a%5Cb", "/%2e", "/%2E%2e/",
        "/a%2e",  "/%252e", "/%252f", "/a%00",  "/a%0d%0a", "/a%7f",  "/a%",  "/a%2",
        "/a%zz",  "/a\tb",  "/a b",   "/\x7f",  "/\xc3\xa9"}) {
    EXPECT_FALSE(is_plain_path(path)) << path;
  }
  // Servers that decode the slash first see a dot segment.
  for (const std::string_view path :
       {"/a%2f..", "/a%2F../b", "/..%2fa", "/a%2f.%2fb", "/a%2f..;x%2fb", "/%2f..", "/a%2f%2f."}) {
    EXPECT_FALSE(is_plain_path(path)) << path;
  }
  // Servers that drop parameters see "//" or a dot segment.
  for (const std::string_view path : {"/a/;/b", "/a/;v=1", "/;x/..", "/a%2f;%2fb", "/..%3b/a",
                                      "/a/..%3Bx=1/b", "/a/%3b/b", "/.%3b", "/a%2f..%3b%2fb"}) {
    EXPECT_FALSE(is_plain_path(path)) << path;
  }
  // Lenient decoders of UTF-8 see a dot or a slash.
  for (const std::string_view path : {"/%c0%ae%c0%ae/a", "/a%C0%AFb", "/%c1%9c", "/%e0%80%ae",
                                      "/a%E0%80%AF..", "/%f0%80%80%ae", "/%f0%8f%bf%bf"}) {
    EXPECT_FALSE(is_plain_path(path)) << path;
  }
  for (const std::string_view path : {"/%e0%a4%85", "/%f0%9f%98%80", "/%c2%a0", "/%c0", "/%C0%20",
                                      "/%E9t%E9", "/a%3bv=1", "/a..%3b"}) {
    EXPECT_TRUE(is_plain_path(path)) << path;
  }
}

}  // namespace
}  // namespace stile::acl
