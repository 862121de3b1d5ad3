// Points in time: microseconds since the Unix epoch, and RFC 3339 text.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stile {

using UnixMicros = std::int64_t;
inline constexpr UnixMicros micros_per_second = 1'000'000;

[[nodiscard]] inline UnixMicros unix_micros() noexcept {
  using namespace std::chrono;
  return duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
}

// "2026-11-16T09:00:00Z", "2026-11-16 10:00:00.25+01:00". A time without an offset is refused: it
// would mean another moment on every host.
[[nodiscard]] std::optional<UnixMicros> parse_time(std::string_view text);

// In UTC, with a fraction only if there is one.
[[nodiscard]] std::string time_text(UnixMicros time);

// Checks and combines the parts of a time; both readers of documents use it.
struct CivilTime {
  int year = 0;
  unsigned month = 0, day = 0, hour = 0, minute = 0, second = 0, micros = 0;
  int offset_minutes = 0;
};
[[nodiscard]] std::optional<UnixMicros> to_micros(const CivilTime& time);

}  // namespace stile
