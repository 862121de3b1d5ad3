// Lines of standard input, in pieces of any size.
#include "mcp/line_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using stile::mcp::LineReader;

namespace {

std::vector<std::string> lines_of(LineReader& reader) {
  std::vector<std::string> lines;
  while (const auto line = reader.next()) {
    lines.push_back(line->is_too_long ? "(too long)" : line->text);
  }
  return lines;
}

TEST(McpLineReader, IsTheSameForAllPieces) {
  const std::string all = "first\n\n01234567\n012345678\nlast one\nno end";
  const std::vector<std::string> expected{"first", "", "01234567", "(too long)", "last one"};
  for (std::size_t size = 1; size <= all.size(); ++size) {
    LineReader reader{8};
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < all.size(); at += size) {
      reader.add(std::string_view{all}.substr(at, size));
      for (auto& line : lines_of(reader)) lines.push_back(line);
    }
    EXPECT_EQ(lines, expected) << "pieces of " << size;
  }
}

}  // namespace
