// ASCII character classes, independent of the locale that <cctype> reads.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace stile {

[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

[[nodiscard]] constexpr bool is_upper(char c) noexcept { return c >= 'A' && c <= 'Z'; }

[[nodiscard]] constexpr char to_lower(char c) noexcept {
  return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
}

[[nodiscard]] constexpr bool is_letter(char c) noexcept {
  return to_lower(c) >= 'a' && to_lower(c) <= 'z';
}

// Letters, digits and `marks`.
[[nodiscard]] constexpr bool has_only(std::string_view text, std::string_view marks) noexcept {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return is_letter(c) || is_digit(c) || marks.find(c) != std::string_view::npos;
  });
}

// The name of a variable of the environment.
[[nodiscard]] constexpr bool is_variable_name(std::string_view text) noexcept {
  return !text.empty() && !is_digit(text.front()) && has_only(text, "_");
}

// The id of an agent or worker: 1 to 64 of a-z, 0-9 and '-'; it does not begin or end with '-'.
// So it is safe in the names of files and units.
[[nodiscard]] constexpr bool is_plain_id(std::string_view text) noexcept {
  return !text.empty() && text.size() <= 64 && text.front() != '-' && text.back() != '-' &&
         has_only(text, "-") && std::none_of(text.begin(), text.end(), is_upper);
}

inline constexpr std::string_view hex_digits = "0123456789abcdef";

inline void append_hex(std::string& out, unsigned char byte) {
  out += {hex_digits[byte >> 4U], hex_digits[byte & 15U]};
}

// The value of a hexadecimal digit of either case, or -1.
[[nodiscard]] constexpr int hex_value(char c) noexcept {
  if (is_digit(c)) return c - '0';
  const char lower = to_lower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

[[nodiscard]] inline std::string upper_case(std::string_view text) {
  std::string upper{text};
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return upper;
}
[[nodiscard]] inline std::string lower_case(std::string_view text) {
  std::string lower{text};
  std::transform(lower.begin(), lower.end(), lower.begin(), to_lower);
  return lower;
}

// Case-insensitive comparison of ASCII letters.
[[nodiscard]] constexpr bool equal_ignoring_case(std::string_view left,
                                                 std::string_view right) noexcept {
  return left.size() == right.size() &&
         std::equal(left.begin(), left.end(), right.begin(),
                    [](char a, char b) { return to_lower(a) == to_lower(b); });
}

}  // namespace stile
