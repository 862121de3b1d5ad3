// Table: rows under titles, cut to the width of the terminal.
#include "base/table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace stile {
namespace {

Table sample() {
  Table table{{{"AGENT", Fit::cut_end}, {"HOST", Fit::cut_start}, {"COUNT", Fit::number, 1}}};
  table.add({"alpha", "a-rather-long-label.of.some.example.com", "7"});
  table.add({"beta", "b.example", "1234567"});
  return table;
}

std::string printed(const Table& table, const Terminal& terminal) {
  std::ostringstream out;
  table.print(out, terminal);
  return out.str();
}

std::size_t columns_of(const std::string& line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

TEST(Table, IsNotCutWithoutATerminal) {
  EXPECT_EQ(printed(sample(), {}),
            "AGENT  HOST                                       COUNT\n"
            "alpha  a-rather-long-label.of.some.example.com        7\n"
            "beta   b.example                                1234567\n");
}

TEST(Table, CutsAHostAtItsHeadSinceTheEndSaysWhoseItIs) {
  EXPECT_EQ(printed(sample(), {false, 40}),
            "AGENT  HOST                        COUNT\n"
            "alpha  …bel.of.some.example.com        7\n"
            "beta   b.example                 1234567\n");
}

TEST(Table, FitsEveryWidthDownToItsLeast) {
  for (std::size_t width = 17; width < 80; ++width) {
    std::istringstream lines{printed(sample(), {false, width})};
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(columns_of(line), width) << line;
    }
  }
}

TEST(Table, LeavesOutTheColumnsOfTheHighestRankFirst) {
  const auto narrow = printed(sample(), {false, 20});
  EXPECT_EQ(narrow.find("COUNT"), std::string::npos);
  EXPECT_NE(narrow.find("HOST"), std::string::npos);
}

TEST(Table, EndsARowOfFewWordsWithoutBlanks) {
  Table table{{{"A"}, {"B"}, {"C", Fit::number}}};
  table.add({"1", "", ""});
  table.add({"", "22", ""});
  table.add({"", "", "333"});
  EXPECT_EQ(printed(table, {}),
            "A  B     C\n"
            "1\n"
            "   22\n"
            "       333\n");
}

TEST(Table, EscapesWhatCouldSteerATerminal) {
  Table table{{{"HOST"}}};
  table.add({"a\x1b]0;owned\x07\r\n\xc2\x9b"});
  const auto text = printed(table, {true, 80});
  EXPECT_NE(text.find("a\\x1b]0;owned\\x07\\x0d\\x0a\\xc2\\x9b"), std::string::npos) << text;
}

TEST(Table, HasColourOnlyOnATerminalThatTakesIt) {
  Table table{{{"MODE"}}};
  table.add({{"offline", Colour::red}});
  EXPECT_EQ(printed(table, {false, 80}), "MODE\noffline\n");
  EXPECT_NE(printed(table, {true, 80}).find("\x1b[31moffline\x1b[0m"), std::string::npos);
}

}  // namespace
}  // namespace stile
