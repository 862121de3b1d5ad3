// Sizes and durations as people write them: "50MiB", "10m". The only place that defines the units.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stile {

// "1000", "1000B", "50MiB", "2GB": whole numbers; KiB … TiB are powers of 1024, kB … TB of 1000.
// "K" or "M" alone is refused, since programs disagree on what it means.
[[nodiscard]] Result<std::uint64_t> parse_size(std::string_view text);

// "500ms", "10s", "10m", "1h30m", "7d". A number without a unit is refused.
[[nodiscard]] Result<std::chrono::milliseconds> parse_duration(std::string_view text);

// The shortest exact form that parse_size reads: "50MiB", "1000".
[[nodiscard]] std::string size_text(std::uint64_t bytes);

// Rounded, for people: "517 B", "1.4 MiB"; "42s", "3m 5s", "2d 4h".
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);
[[nodiscard]] std::string seconds_text(std::uint64_t seconds);

}  // namespace stile
