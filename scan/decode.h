// Decoding layers: what a text says once its escapes, base64 and hexadecimal runs are read. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "scan/bytes.h"

namespace stile::scan {

struct Unescaped {
  std::string_view text;
  bool may_have_more;  // escapes, which were encoded themselves
};
// The text without percent escapes, and those of JSON and JavaScript strings, in `room`. nullopt:
// there are none.
[[nodiscard]] std::optional<Unescaped> unescape(std::string_view text, Bytes& room);

// Appends what the runs of base64 (both alphabets, with and without padding) and of hexadecimal
// digits stand for, with a zero byte after each. Runs that are too short for a key are left out. A
// run may be broken into lines of at least 22 characters, which may be indented. It is also read
// from its second, third and fourth character on, for the case that something else is directly
// before the encoded text.
//
// Most of what is read this way is binary data, or text at a wrong offset. It is left out, as a
// whole, if it does not have `least_text` characters of text after each other and no gzip data
// begins in it. Nothing can hide behind this: all shapes, the values if they are text, and what
// can be decoded further are longer stretches of text, and one such stretch anywhere keeps all that
// is before and after it. `least_text` is 0 if that is not so; then nothing is left out.
void append_decoded_runs(std::string_view text, std::size_t least_text, std::string& out);

// So many characters stand for a multiple of four characters in each of three layers of base64.
inline constexpr std::size_t whole_group = 64;

// Between two lines of a run: so many blanks at most before the line break, and after it.
inline constexpr std::size_t most_blanks = 32, most_between = 2 * most_blanks + 2;

// The place at or before `at` from which a base64 run that reaches over it can be read on: a
// multiple of whole_group characters from its beginning. At most most_back bytes before `at`.
[[nodiscard]] std::size_t whole_group_before(std::string_view text, std::size_t at) noexcept;
inline constexpr std::size_t most_back = whole_group + 5 * most_between;

}  // namespace stile::scan
