// List files.
#include "config/list_file.h"

#include <gtest/gtest.h>

namespace stile::config {
namespace {

std::vector<std::string> patterns_with_lines(const acl::RuleSet& rules) {
  std::vector<std::string> out;
  for (std::uint32_t i = 0; i < rules.size(); ++i) {
    out.push_back(acl::RuleRef{&rules, i}.describe());
  }
  return out;
}

TEST(ListFile, ReadsOnePatternALineWithCommentsAndBlanks) {
  const auto rules = parse_list(
      "# names\n"
      "example.com\n"
      "\n"
      "  .Example.ORG\t# with all below\r\n"
      "\t \r\n"
      "*.example.net #\n"
      "http://plain.example:8080\n"
      "~^api-[0-9]+\\.example$",  // no newline at the end
      "list");
  ASSERT_TRUE(rules) << rules.error().text();
  EXPECT_EQ(patterns_with_lines(**rules),
            (std::vector<std::string>{
                "example.com (list:2)", ".example.org (list:4)", "*.example.net (list:6)",
                "http://plain.example:8080 (list:7)", "~^api-[0-9]+\\.example$ (list:8)"}));
}

TEST(ListFile, MayBeEmpty) {
  for (const char* text : {"", "\n", "#", "# only\n#comments\n\n"}) {
    const auto rules = parse_list(text, "list");
    ASSERT_TRUE(rules) << text;
    EXPECT_EQ((*rules)->size(), 0U) << text;
  }
}

TEST(ListFile, NamesEveryBadLineWithItsPlaceAndReason) {
  const auto rules =
      parse_list("good.example\n  two words\n10.0.0.1\nba#d\nfine.example\n-x\n", "l");
  ASSERT_FALSE(rules);
  EXPECT_EQ(rules.error().text(),
            "l:2:3: 'two words': patterns cannot contain whitespace or control characters\n"
            "l:3:1: '10.0.0.1': is an IP address; patterns are names, and addresses belong in "
            "allow_ip\n"
            "l:4:1: 'ba#d': a pattern has no path\n"
            "l:6:1: '-x': a label begins or ends with '-'\n");
}

TEST(ListFile, StopsAfterTwentyBadLines) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "bad name\n";
  const auto rules = parse_list(text, "l");
  ASSERT_FALSE(rules);
  EXPECT_EQ(rules.error().error_count(), 21U);
  EXPECT_EQ(rules.error().items().back().text(), "l:21:1: and perhaps more: reading ends here");
}

TEST(ListFile, RefusesNulAndBytesOutsideAscii) {
  EXPECT_FALSE(parse_list(std::string_view{"exa\0mple.com\n", 13}, "l"));
  EXPECT_FALSE(
      parse_list("\xef\xbb\xbf"
                 "example.com\n",
                 "l"));
  EXPECT_FALSE(
      parse_list("b\xc3\xbc"
                 "cher.example\n",
                 "l"));
}

}  // namespace
}  // namespace stile::config
