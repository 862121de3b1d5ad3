// Bits: what long runs of base64 and of hexadecimal digits stand for, and whether that says
// anything. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "scan/bytes.h"

namespace stile::scan {

// The bits of a run of base64, which has only characters of its alphabets, or of hexadecimal
// digits. Ones follow, up to the end of the last byte and in `slack` more bytes: no text, wherever
// a byte begins. Valid as long as the room is not used again.
[[nodiscard]] std::string_view bits_of_base64(std::string_view run, Bytes& room);
[[nodiscard]] std::string_view bits_of_hex(std::string_view run, Bytes& room);

// So many bytes of them, from a bit on that is even.
[[nodiscard]] std::string_view bytes_from(std::size_t bit, std::size_t count, std::string_view bits,
                                          Bytes& room);

// Ways to divide bits into bytes: one flag for each even number of bits before the first byte. The
// flag is the bit of each byte that is then the first bit of another one.
using Shifts = std::uint8_t;
[[nodiscard]] constexpr Shifts shift_of(std::size_t bit) noexcept {
  return static_cast<Shifts>(0x80U >> bit % 8);
}

// The bounds of what telling_shifts() can look for.
inline constexpr std::size_t shortest_text = 8, longest_text = 16;

// Whether a character is one of ASCII text, with tabs and line breaks.
[[nodiscard]] constexpr bool is_text(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= 0x20 && byte < 0x80) || c == '\t' || c == '\n' || c == '\r';
}

inline constexpr std::string_view gzip_start = "\x1f\x8b\x08";

// Where it begins from `from` on; the size of the bytes if it does not.
[[nodiscard]] std::size_t find_gzip_start(std::string_view bytes, std::size_t from) noexcept;

// Those of the shifts at which there is a stretch of so many characters of text, or a beginning of
// gzip data. The last character of text may be one that is not whole: what fills up the last byte.
// The bits are those of a function above.
[[nodiscard]] Shifts telling_shifts(std::string_view bits, Shifts shifts,
                                    std::size_t least_text) noexcept;

}  // namespace stile::scan
