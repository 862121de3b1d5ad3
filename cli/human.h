// Formats numbers for people.
#pragma once

#include <cstdint>
#include <string>

namespace stile::cli {

[[nodiscard]] std::string bytes_text(std::uint64_t bytes);      // "517 B", "1.4 MiB"
[[nodiscard]] std::string seconds_text(std::uint64_t seconds);  // "42s", "3m 5s", "2d 4h"

}  // namespace stile::cli
