// Bits: what long runs of base64 and of hexadecimal digits stand for, and whether that says
// anything. Pure.
#pragma once

#include <cstddef>
#include <string_view>

#include "scan/bytes.h"

namespace stile::scan {

// The bits of a run of base64, which has only characters of its alphabets, the last byte filled up
// with zeros. Like all of these, it is valid as long as the room is not used again.
[[nodiscard]] std::string_view bits_of_base64(std::string_view run, Bytes& room);

// What the run of so many characters says from its first, second, third or fourth character on
// (0 to 3): the same bits, shifted.
[[nodiscard]] std::string_view bits_from(std::size_t character, std::size_t run_size,
                                         std::string_view bits_of_run, Bytes& room);

// Of a run that has only hexadecimal digits.
[[nodiscard]] std::string_view bits_of_hex(std::string_view run, Bytes& room);

// The bounds of what says_something() can look for.
inline constexpr std::size_t shortest_text = 8, longest_text = 16;

// Whether a character is one of ASCII text, with tabs and line breaks.
[[nodiscard]] constexpr bool is_text(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= 0x20 && byte < 0x80) || c == '\t' || c == '\n' || c == '\r';
}

inline constexpr std::string_view gzip_start = "\x1f\x8b\x08";

// Where it begins from `from` on; the size of the bytes if it does not.
[[nodiscard]] std::size_t find_gzip_start(std::string_view bytes, std::size_t from) noexcept;

// Whether there is a stretch of so many characters of text, or a beginning of gzip data.
[[nodiscard]] bool says_something(std::string_view bytes, std::size_t least_text) noexcept;

}  // namespace stile::scan
