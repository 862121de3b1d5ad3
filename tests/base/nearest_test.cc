// Hints for mistyped words.
#include "base/nearest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace stile {
namespace {

TEST(Nearest, FindsTheWordThatWasProbablyMeant) {
  const std::vector<std::string_view> known{"ports", "http_ports", "mode", "contact"};
  EXPECT_EQ(nearest("prots", known), "ports");
  EXPECT_EQ(nearest("http-ports", known), "http_ports");
  EXPECT_EQ(nearest("mod", known), "mode");
}

TEST(Nearest, IsSilentWhenNothingIsNear) {
  const std::vector<std::string_view> known{"ports", "mode"};
  EXPECT_EQ(nearest("strip_request_headers", known), "");
  EXPECT_EQ(nearest(std::string(100'000, 'x'), known), "");
  EXPECT_EQ(nearest("x", {}), "");
}

// The textbook's whole matrix, without a limit.
std::size_t distance_by_the_book(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> steps(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        steps[i][j] = i + j;
        continue;
      }
      steps[i][j] = std::min({steps[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U),
                              steps[i - 1][j] + 1, steps[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        steps[i][j] = std::min(steps[i][j], steps[i - 2][j - 2] + 1);
      }
    }
  }
  return steps[a.size()][b.size()];
}

TEST(EditDistance, IsThatOfTheWholeMatrixUpToItsLimit) {
  std::vector<std::string> words{""};
  for (std::size_t from = 0; words.back().size() < 5;) {  // all words of two letters
    const std::string word = words[from++];
    words.push_back(word + 'a');
    words.push_back(word + 'b');
  }
  for (const std::string& a : words) {
    for (const std::string& b : words) {
      for (std::size_t limit = 0; limit < 4; ++limit) {
        ASSERT_EQ(edit_distance(a, b, limit), std::min(distance_by_the_book(a, b), limit + 1))
            << a << ' ' << b << ' ' << limit;
      }
    }
  }
}

}  // namespace
}  // namespace stile
