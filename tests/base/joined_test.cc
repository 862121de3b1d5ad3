// Lists as one text.
#include "base/joined.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace stile {
namespace {

TEST(Joined, PutsTextBetweenTheElements) {
  const std::vector<std::string> words{"a", "b", "c"};
  EXPECT_EQ(joined(words), "a, b, c");
  EXPECT_EQ(joined(words, " and "), "a and b and c");
  EXPECT_EQ(joined(std::vector<std::string_view>{"a"}), "a");
  EXPECT_EQ(joined(std::vector<std::string>{}), "");
}

TEST(Joined, TakesAnyElementWithAText) {
  const auto text = [](int number) { return std::to_string(number); };
  EXPECT_EQ(joined_texts(std::vector<int>{1, 20}, text, "; "), "1; 20");
}

}  // namespace
}  // namespace stile
