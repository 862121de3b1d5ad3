// MinuteCount: no 60 seconds have more than the limit, wherever they begin.
#include "acl/minute_count.h"

#include <gtest/gtest.h>

#include <deque>

namespace stile::acl {
namespace {
namespace minute_count {

constexpr UnixMicros second = 1'000'000;
constexpr UnixMicros start = 1'800'000'000 * second;

TEST(MinuteCount, ForgetsARequestAfter60To65Seconds) {
  for (UnixMicros at = start; at < start + 10 * second; at += second / 4) {
    MinuteCount count;
    ASSERT_TRUE(count.take(at, 1));
    EXPECT_FALSE(count.take(at + 60 * second - 1, 1));
    EXPECT_EQ(count.used(at + 60 * second - 1), 1U);
    EXPECT_EQ(count.used(at + 65 * second), 0U);
    MinuteCount waited;
    ASSERT_TRUE(waited.take(at, 1));
    const std::int64_t left = waited.seconds_left(at + second);
    EXPECT_EQ(waited.used(at + second + left * second), 0U);
    EXPECT_LE(left, MinuteCount::most_seconds);
  }
}

// An agent that tries all the time, and one that waits for the border of a minute.
TEST(MinuteCount, No60SecondsHaveMoreThanTheLimit) {
  constexpr std::uint64_t most = 7;
  for (const UnixMicros pause : {second / 3, second, 4 * second, 59 * second, 61 * second}) {
    MinuteCount count;
    std::deque<UnixMicros> taken;
    std::size_t all = 0;
    for (UnixMicros now = start + 3; now < start + 600 * second; now += pause) {
      while (count.take(now, most)) {
        taken.push_back(now);
        ++all;
      }
      while (!taken.empty() && taken.front() <= now - 60 * second) taken.pop_front();
      ASSERT_LE(taken.size(), most);
    }
    EXPECT_GE(all, most * 600 / 122) << "it does not block for good";
  }
}

TEST(MinuteCount, AClockThatIsSetBackNeitherForgetsNorBlocksForLong) {
  MinuteCount count;
  EXPECT_TRUE(count.take(start, 2));
  EXPECT_TRUE(count.take(start - 3600 * second, 2));
  EXPECT_FALSE(count.take(start - 3600 * second, 2));
  EXPECT_TRUE(count.take(start - 3535 * second, 2));
}

TEST(MinuteCount, GivesBackOnceAndOnlyWhatItStillCounts) {
  MinuteCount count;
  EXPECT_TRUE(count.take(start, 5));
  EXPECT_TRUE(count.take(start + 20 * second, 5));
  count.give_back(start);
  count.give_back(start);
  EXPECT_EQ(count.used(start + 20 * second), 1U);
  EXPECT_TRUE(count.take(start + 90 * second, 5));
  count.give_back(start + 20 * second);  // forgotten
  EXPECT_EQ(count.used(start + 90 * second), 1U);
}

TEST(MinuteCount, IsSaved) {
  MinuteCount count, restored;
  EXPECT_TRUE(count.take(start, 5));
  EXPECT_TRUE(count.take(start + 7 * second, 5));
  restored.restore(count.saved());
  EXPECT_EQ(restored.used(start + 66 * second), 2U);
  EXPECT_EQ(restored.used(start + 72 * second), 0U);
}

}  // namespace minute_count
}  // namespace
}  // namespace stile::acl
