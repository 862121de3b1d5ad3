// The output of a task, read piece by piece with a cursor.
#include "worker/output.h"

#include <gtest/gtest.h>

namespace stile::worker {
namespace {

TEST(WorkerOutput, GivesEveryByteOnceWhereverItIsCut) {
  Output output{1000};
  output.append("one\xe2\x82\xac two");
  for (std::size_t most = 3; most < 12; ++most) {
    std::string all;
    std::uint64_t cursor = 0;
    for (int i = 0; i < 20 && cursor < output.end(); ++i) {
      const auto piece = output.read(cursor, most, true);
      all += piece.text;
      cursor = piece.cursor;
    }
    EXPECT_EQ(all, "one\xe2\x82\xac two") << most;
  }
}

TEST(WorkerOutput, KeepsTheEndAndSaysHowMuchIsMissing) {
  Output output{8};
  for (int i = 0; i < 100; ++i) output.append("ab");
  EXPECT_EQ(output.end(), 200U);
  const auto piece = output.read(10, 1000, true);
  EXPECT_GE(piece.text.size(), 8U);
  EXPECT_EQ(piece.cursor, 200U);
  EXPECT_EQ(piece.missed + piece.text.size(), 190U);
  EXPECT_TRUE(output.read(500, 10, true).text.empty());
}

TEST(WorkerOutput, WaitsForTheRestOfACharacterUntilTheEnd) {
  Output output{100};
  output.append("\xe2\x82");
  EXPECT_EQ(output.read(0, 100, false).cursor, 0U);
  const auto last = output.read(0, 100, true);
  EXPECT_EQ(last.cursor, 2U);
  EXPECT_EQ(last.text, "\xef\xbf\xbd\xef\xbf\xbd");
}

// A reader that is told of bytes which no piece gives would ask again at once, for ever.
TEST(WorkerOutput, HasNoTextUntilACharacterIsComplete) {
  Output output{100};
  EXPECT_FALSE(output.has_text_after(0, false));
  for (const char byte : std::string_view{"\xf0\x9f\x8c"}) {
    output.append({&byte, 1});
    EXPECT_FALSE(output.has_text_after(0, false));
    EXPECT_TRUE(output.read(0, 100, false).text.empty());
  }
  EXPECT_TRUE(output.has_text_after(0, true));
  output.append("\x8d");
  EXPECT_TRUE(output.has_text_after(0, false));
  EXPECT_FALSE(output.has_text_after(4, false));
  EXPECT_FALSE(output.has_text_after(1000, false));
}

}  // namespace
}  // namespace stile::worker
