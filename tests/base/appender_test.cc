#include "base/appender.h"

#include <gtest/gtest.h>

namespace stile {
namespace {

std::string escaped(std::string_view text) {
  std::string out = "x";
  Appender{out, text.size() * Appender::max_escape}.escaped(text);
  return out.substr(1);
}

TEST(Appender, KeepsWhatIsThereAndEndsAtTheLastByteWritten) {
  std::string out = "before ";
  {
    Appender line{out, 100};
    line.plain("text ");
    line.plain({});
    line.number(18446744073709551615U);
    EXPECT_EQ(line.size(), out.find('\0'));
  }
  EXPECT_EQ(out, "before text 18446744073709551615");
}

TEST(Appender, EscapesAByteAtEveryPlaceOfAWord) {
  for (std::size_t at = 0; at < 20; ++at) {
    std::string text(20, 'a');
    text[at] = '\n';
    std::string expected(20, 'a');
    expected.replace(at, 1, "\\u000a");
    EXPECT_EQ(escaped(text), expected);
  }
  EXPECT_EQ(escaped("\"\\\x7f\xff~ "), "\\\"\\\\\\u007f\\u00ff~ ");
}

TEST(Appender, CopiesPlainTextOfEveryLength) {
  const std::string text = "abcdefghijklmnopqrstuvwxyz";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    EXPECT_EQ(escaped(text.substr(0, size)), text.substr(0, size));
    EXPECT_EQ(escaped(text.substr(0, size) + "\""), text.substr(0, size) + "\\\"");
  }
}

// Bytes of an agent are written with it: a wrong count of the room must not become an overflow.
TEST(AppenderDeathTest, EndsTheProcessWhereTheRoomEnds) {
  std::string out;
  Appender line{out, 7};
  line.plain("seven");
  EXPECT_DEATH(line.plain("one"), "");
  EXPECT_DEATH(line.number(123), "");
  EXPECT_DEATH(line.escaped("a"), "");
  line.plain("!!");
}

}  // namespace
}  // namespace stile
