// Points in time as text.
#include "base/unix_time.h"

#include <gtest/gtest.h>

namespace stile {
namespace {

struct TimeCase {
  const char* text;
  UnixMicros micros;
};

TEST(ParseTime, ReadsRfc3339) {
  const TimeCase cases[] = {
      {"1970-01-01T00:00:00Z", 0},
      {"2026-11-16T09:00:00Z", 1'794'819'600'000'000},
      {"2026-11-16t09:00:00z", 1'794'819'600'000'000},
      {"2026-11-16 10:00:00+01:00", 1'794'819'600'000'000},
      {"2026-11-16T03:30:00-05:30", 1'794'819'600'000'000},
      {"2026-11-16T09:00:00.25Z", 1'794'819'600'250'000},
      {"2026-11-16T09:00:00.123456789Z", 1'794'819'600'123'456},
      {"2028-02-29T00:00:00Z", 1'835'395'200'000'000},
  };
  for (const auto& [text, micros] : cases) {
    const auto time = parse_time(text);
    ASSERT_TRUE(time) << text;
    EXPECT_EQ(*time, micros) << text;
  }
}

TEST(ParseTime, RefusesWhatIsNoMoment) {
  for (const char* text :
       {"", "2026-11-16", "2026-11-16T09:00:00", "2026-11-16T09:00Z", "2026-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z", "2026-11-16T24:00:00Z", "2026-11-16T09:60:00Z",
        "2026-11-16T09:00:60Z", "2026-11-16T09:00:00.Z", "2026-11-16T09:00:00.1234567890Z",
        "2026-11-16T09:00:00Zx", "2026-11-16T09:00:00+24:00", "2026-11-16T09:00:00+0100",
        "1969-12-31T23:59:59Z", "1970-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01",
        "12026-11-16T09:00:00Z", "2026-11-1aT09:00:00Z"}) {
    EXPECT_FALSE(parse_time(text)) << '"' << text << '"';
  }
}

TEST(TimeText, ReadsBackAsTheSameMoment) {
  EXPECT_EQ(time_text(1'794'819'600'000'000), "2026-11-16T09:00:00Z");
  EXPECT_EQ(time_text(1'794'819'600'000'001), "2026-11-16T09:00:00.000001Z");
  for (const UnixMicros micros :
       {UnixMicros{0}, UnixMicros{999'999}, UnixMicros{1'794'819'600'250'000}}) {
    EXPECT_EQ(parse_time(time_text(micros)), micros);
  }
}

}  // namespace
}  // namespace stile
