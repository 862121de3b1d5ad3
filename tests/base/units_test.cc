// Sizes and durations.
#include "base/units.h"

#include <gtest/gtest.h>

#include <limits>

namespace stile {
namespace {

struct SizeCase {
  const char* text;
  std::uint64_t bytes;
};

TEST(ParseSize, ReadsNumbersAndUnits) {
  const SizeCase cases[] = {
      {"0", 0},
      {"1000", 1000},
      {"7B", 7},
      {"1kB", 1000},
      {"1KiB", 1024},
      {"50MiB", 50ULL << 20U},
      {"50 MiB", 50ULL << 20U},
      {"2GB", 2'000'000'000},
      {"3TiB", 3ULL << 40U},
      {"18446744073709551615", UINT64_MAX},
      {"16777215TiB", 16777215ULL << 40U},
  };
  for (const auto& [text, bytes] : cases) {
    const auto size = parse_size(text);
    ASSERT_TRUE(size) << text;
    EXPECT_EQ(*size, bytes) << text;
  }
}

TEST(ParseSize, RefusesWhatProgramsDisagreeOnAndWhatOverflows) {
  for (const char* text :
       {"", " ", "MiB", "-1", "+1", "1.5GiB", "1K", "1M", "1kb", "1KIB", "1  MiB", "1MiB ", "0x10",
        "1e3", "18446744073709551616", "16777216TiB", "18446744073709551615KiB", "1 "}) {
    EXPECT_FALSE(parse_size(text)) << '"' << text << '"';
  }
}

TEST(SizeText, ReadsBackAsTheSameSize) {
  for (const std::uint64_t bytes : {0ULL, 1ULL, 999ULL, 1000ULL, 1024ULL, 50ULL << 20U,
                                    1'000'000'000ULL, 18446744073709551615ULL}) {
    const auto again = parse_size(size_text(bytes));
    ASSERT_TRUE(again) << bytes;
    EXPECT_EQ(*again, bytes);
  }
  EXPECT_EQ(size_text(50ULL << 20U), "50MiB");
  EXPECT_EQ(size_text(1500), "1500");
}

struct DurationCase {
  const char* text;
  std::int64_t milliseconds;
};

TEST(ParseDuration, ReadsUnitsAndTheirSums) {
  const DurationCase cases[] = {
      {"500ms", 500},
      {"10s", 10'000},
      {"10m", 600'000},
      {"1h", 3'600'000},
      {"1h30m", 5'400'000},
      {"7d", 604'800'000},
      {"1d1h1m1s1ms", 90'061'001},
      {"0s", 0},
      {"9223372036854775807ms", INT64_MAX},
  };
  for (const auto& [text, milliseconds] : cases) {
    const auto duration = parse_duration(text);
    ASSERT_TRUE(duration) << text;
    EXPECT_EQ(duration->count(), milliseconds) << text;
  }
}

TEST(ParseDuration, RefusesMissingUnitsWrongOrderAndOverflow) {
  for (const char* text : {"", "10", "m", "-1s", "1.5h", "30m1h", "1m1m", "1h 30m", "1M", "1y",
                           "106751991168d", "9223372036854775807ms1ms", "9223372036854775807s"}) {
    EXPECT_FALSE(parse_duration(text)) << '"' << text << '"';
  }
}

TEST(Units, WritesBytesWithTheUnitThatFits) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1024), "1.0 KiB");
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(bytes_text(1048575), "1023.9 KiB");
  EXPECT_EQ(bytes_text(1048576), "1.0 MiB");
  EXPECT_EQ(bytes_text(std::uint64_t{5} << 30U), "5.0 GiB");
  EXPECT_EQ(bytes_text(std::numeric_limits<std::uint64_t>::max()), "15.9 EiB");
}

TEST(Units, WritesSecondsWithTheTwoLargestUnits) {
  EXPECT_EQ(seconds_text(0), "0s");
  EXPECT_EQ(seconds_text(59), "59s");
  EXPECT_EQ(seconds_text(60), "1m");
  EXPECT_EQ(seconds_text(185), "3m 5s");
  EXPECT_EQ(seconds_text(3600), "1h");
  EXPECT_EQ(seconds_text(187200), "2d 4h");
}

}  // namespace
}  // namespace stile
