// Decoding layers: what a text says once its escapes, base64 and hexadecimal runs are read. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stile::scan {

// Replaces percent escapes, and those of JSON and JavaScript strings. False: there are none, and
// `out` is not used.
[[nodiscard]] bool unescape(std::string_view text, std::string& out);

// Appends what the runs of base64 (both alphabets, with and without padding, also in lines) and of
// hexadecimal digits stand for, with a zero byte after each. Runs that are too short for a key
// are left out. `tries_offsets`: a run is also read from its second, third and fourth character on,
// for the case that something else is directly before the encoded text.
void append_decoded_runs(std::string_view text, bool tries_offsets, std::string& out);

// The place at or before `at` from which a base64 run that reaches over it can be read on: a
// multiple of four characters from its beginning. At most 8 bytes before `at`.
[[nodiscard]] std::size_t whole_group_before(std::string_view text, std::size_t at) noexcept;

}  // namespace stile::scan
