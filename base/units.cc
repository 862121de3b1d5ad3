// Sizes and durations as people write them.
#include "base/units.h"

#include <array>
#include <charconv>
#include <limits>
#include <optional>

namespace stile {
namespace {

template <class Number>
struct Unit {
  std::string_view name;
  Number factor;
};

constexpr std::array<Unit<std::uint64_t>, 9> size_units{{
    {"TiB", 1ULL << 40U},
    {"GiB", 1ULL << 30U},
    {"MiB", 1ULL << 20U},
    {"KiB", 1ULL << 10U},
    {"TB", 1'000'000'000'000},
    {"GB", 1'000'000'000},
    {"MB", 1'000'000},
    {"kB", 1'000},
    {"B", 1},
}};

// From long to short: the parts of "1h30m" must come in this order.
constexpr std::array<Unit<std::int64_t>, 5> duration_units{{
    {"d", 86'400'000},
    {"h", 3'600'000},
    {"m", 60'000},
    {"s", 1'000},
    {"ms", 1},
}};

// Removes the digits from the front of `text`; nullopt if there are none or too many.
template <class Number>
std::optional<Number> take_number(std::string_view& text) {
  Number number{};
  const char* const end = text.data() + text.size();
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return number;
}

template <class Number, std::size_t Count>
std::size_t find_unit(const std::array<Unit<Number>, Count>& units, std::string_view name) {
  std::size_t i = 0;
  while (i < Count && units[i].name != name) ++i;
  return i;
}

Error not_a_size(std::string_view why) {
  return Error{std::string{why} + "; a size is a number of bytes or like 64KiB, 50MiB, 2GB"};
}

Error not_a_duration(std::string_view why) {
  return Error{std::string{why} + "; a duration is like 500ms, 10s, 10m, 1h30m, 7d"};
}

}  // namespace

Result<std::uint64_t> parse_size(std::string_view text) {
  const auto number = take_number<std::uint64_t>(text);
  if (!number) return not_a_size("not a whole number that fits 64 bits");
  if (text.empty()) return *number;
  if (text.front() == ' ') text.remove_prefix(1);
  const auto unit = find_unit(size_units, text);
  if (unit == size_units.size()) return not_a_size("unknown unit");
  if (*number > std::numeric_limits<std::uint64_t>::max() / size_units[unit].factor) {
    return not_a_size("does not fit 64 bits");
  }
  return *number * size_units[unit].factor;
}

Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  std::int64_t total = 0;
  std::size_t next_unit = 0;
  do {
    const auto number = take_number<std::int64_t>(text);
    if (!number) return not_a_duration("not a whole number with a unit");
    const auto name = text.substr(0, text.find_first_of("0123456789"));
    text.remove_prefix(name.size());
    const auto unit = find_unit(duration_units, name);
    if (unit == duration_units.size()) return not_a_duration("unknown or missing unit");
    if (unit < next_unit) return not_a_duration("the longer unit comes first, each one once");
    next_unit = unit + 1;
    const auto factor = duration_units[unit].factor;
    if (*number > (most - total) / factor) return not_a_duration("too long");
    total += *number * factor;
  } while (!text.empty());
  return std::chrono::milliseconds{total};
}

std::string size_text(std::uint64_t bytes) {
  if (bytes > 0) {
    for (const auto& unit : size_units) {
      if (unit.factor > 1 && bytes % unit.factor == 0) {
        return std::to_string(bytes / unit.factor).append(unit.name);
      }
    }
  }
  return std::to_string(bytes);
}

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
  constexpr std::array<Unit<std::uint64_t>, 4> units{
      {{"d", 86'400}, {"h", 3'600}, {"m", 60}, {"s", 1}}};
  for (std::size_t i = 0; i + 1 < units.size(); ++i) {
    if (seconds < units[i].factor) continue;
    std::string text = std::to_string(seconds / units[i].factor).append(units[i].name);
    const std::uint64_t rest = seconds % units[i].factor / units[i + 1].factor;
    if (rest > 0) text.append(1, ' ').append(std::to_string(rest)).append(units[i + 1].name);
    return text;
  }
  return std::to_string(seconds) + 's';
}

}  // namespace stile
