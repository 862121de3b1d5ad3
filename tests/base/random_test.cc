// Unpredictable numbers.
#include "base/random.h"

#include <gtest/gtest.h>

#include <set>

namespace stile {
namespace {

TEST(Random, DoesNotRepeatAcrossItsPool) {
  Random random;
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(seen.insert(random.next()).second);
}

TEST(Random, HexHasTwoDigitsPerByteAndDiffers) {
  const auto text = random_hex(16);
  EXPECT_EQ(text.size(), 32U);
  EXPECT_EQ(text.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(text, random_hex(16));
}

}  // namespace
}  // namespace stile
