// Alphabet: sets of characters, so that a test for one is a table lookup.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace stile::scan {

enum Alphabet : std::uint16_t {
  digit = 1,
  lower_af = 2,
  lower_gz = 4,
  upper_af = 8,
  upper_gz = 16,
  underscore = 32,
  hyphen = 64,
  plus_slash = 128,
  dot = 256,
  space = 512,  // space, tab and line breaks
  lower = lower_af | lower_gz,
  upper = upper_af | upper_gz,
  hex = digit | lower_af | upper_af,
  base62 = digit | lower | upper,
  word = base62 | underscore | hyphen,
  base64_any = word | plus_slash,  // both alphabets of RFC 4648
};

inline constexpr std::array<std::uint16_t, 256> classes = [] {
  std::array<std::uint16_t, 256> table{};
  for (unsigned c = '0'; c <= '9'; ++c) table[c] = digit;
  for (unsigned c = 'a'; c <= 'z'; ++c) table[c] = c <= 'f' ? lower_af : lower_gz;
  for (unsigned c = 'A'; c <= 'Z'; ++c) table[c] = c <= 'F' ? upper_af : upper_gz;
  table['_'] = underscore;
  table['-'] = hyphen;
  table['+'] = table['/'] = plus_slash;
  table['.'] = dot;
  table[' '] = table['\t'] = table['\r'] = table['\n'] = space;
  return table;
}();

[[nodiscard]] constexpr bool is_in(std::uint16_t alphabet, char c) noexcept {
  return (classes[static_cast<unsigned char>(c)] & alphabet) != 0;
}

// How many characters from `at` on are of the alphabet, counted up to `most`.
[[nodiscard]] constexpr std::size_t run_length(std::string_view text, std::size_t at,
                                               std::uint16_t alphabet, std::size_t most) noexcept {
  std::size_t n = 0;
  while (n < most && at + n < text.size() && is_in(alphabet, text[at + n])) ++n;
  return n;
}

}  // namespace stile::scan
