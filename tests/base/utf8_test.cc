// UTF-8: bytes of unknown origin become text, and no character is cut.
#include "base/utf8.h"

#include <gtest/gtest.h>

namespace stile {
namespace {

TEST(Utf8, ReplacesOnlyWhatIsNotValid) {
  struct Case {
    std::string_view bytes, text;
  };
  constexpr std::string_view bad = "\xef\xbf\xbd";
  const Case cases[]{
      {"", ""},
      {"plain", "plain"},
      {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
      {"\xe2\x82\xac\xf0\x9f\x98\x80", "\xe2\x82\xac\xf0\x9f\x98\x80"},
      {"\xff", bad},
      {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},                  // an overlong slash
      {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},  // a surrogate
      {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
      {"a\xc3", "a\xef\xbf\xbd"},
      {"\x80z", "\xef\xbf\xbdz"},
  };
  for (const auto& one : cases) EXPECT_EQ(valid_utf8(one.bytes), one.text);
}

TEST(Utf8, KeepsTheBeginningOfACharacterForLater) {
  const std::string_view text = "x\xf0\x9f\x98\x80";
  EXPECT_EQ(whole_utf8(text), 5U);
  for (std::size_t cut = 1; cut < text.size(); ++cut)
    EXPECT_EQ(whole_utf8(text.substr(0, cut)), 1U);
  EXPECT_EQ(whole_utf8("x\xff"), 2U);  // never a character
  EXPECT_EQ(whole_utf8("\x80\x80"), 2U);
  EXPECT_EQ(whole_utf8(""), 0U);
}

}  // namespace
}  // namespace stile
