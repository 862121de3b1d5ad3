// Formats numbers for people.
#include "cli/human.h"

#include <array>

namespace stile::cli {

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 6> units{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  std::size_t unit = 0;
  std::uint64_t whole = bytes;
  while (whole >= std::uint64_t{1024} * 1024) {
    whole /= 1024;
    ++unit;
  }
  const std::uint64_t tenths = whole % 1024 * 10 / 1024;
  std::string text = std::to_string(whole / 1024) + '.' + std::to_string(tenths) + ' ';
  return text.append(units[unit]);
}

std::string seconds_text(std::uint64_t seconds) {
  struct Unit {
    std::uint64_t length;
    const char* name;
  };
  constexpr std::array<Unit, 4> units{{{86400, "d"}, {3600, "h"}, {60, "m"}, {1, "s"}}};
  for (std::size_t i = 0; i + 1 < units.size(); ++i) {
    if (seconds < units[i].length) continue;
    std::string text = std::to_string(seconds / units[i].length) + units[i].name;
    const std::uint64_t rest = seconds % units[i].length / units[i + 1].length;
    if (rest > 0) text += ' ' + std::to_string(rest) + units[i + 1].name;
    return text;
  }
  return std::to_string(seconds) + 's';
}

}  // namespace stile::cli
