// Numbers as people read them.
#include "cli/human.h"

#include <gtest/gtest.h>

#include <limits>

namespace stile::cli {
namespace {

TEST(Human, WritesBytesWithTheUnitThatFits) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1024), "1.0 KiB");
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(bytes_text(1048575), "1023.9 KiB");
  EXPECT_EQ(bytes_text(1048576), "1.0 MiB");
  EXPECT_EQ(bytes_text(std::uint64_t{5} << 30U), "5.0 GiB");
  EXPECT_EQ(bytes_text(std::numeric_limits<std::uint64_t>::max()), "15.9 EiB");
}

TEST(Human, WritesSecondsWithTheTwoLargestUnits) {
  EXPECT_EQ(seconds_text(0), "0s");
  EXPECT_EQ(seconds_text(59), "59s");
  EXPECT_EQ(seconds_text(60), "1m");
  EXPECT_EQ(seconds_text(185), "3m 5s");
  EXPECT_EQ(seconds_text(3600), "1h");
  EXPECT_EQ(seconds_text(187200), "2d 4h");
}

}  // namespace
}  // namespace stile::cli
