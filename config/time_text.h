// Points in time as RFC 3339 text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "acl/policy.h"

namespace stile::config {

// "2026-11-16T09:00:00Z", "2026-11-16 10:00:00.25+01:00". A time without an offset is refused: it
// would mean another moment on every host.
[[nodiscard]] std::optional<acl::UnixMicros> parse_time(std::string_view text);

// In UTC, with a fraction only if there is one.
[[nodiscard]] std::string time_text(acl::UnixMicros time);

// Checks and combines the parts of a time; both readers of documents use it.
struct CivilTime {
  int year = 0;
  unsigned month = 0, day = 0, hour = 0, minute = 0, second = 0, micros = 0;
  int offset_minutes = 0;
};
[[nodiscard]] std::optional<acl::UnixMicros> to_micros(const CivilTime& time);

}  // namespace stile::config
