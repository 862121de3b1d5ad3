// UTF-8: makes bytes of unknown origin safe for JSON text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stile {

// The same text, with U+FFFD in place of every byte that is not part of valid UTF-8.
[[nodiscard]] std::string valid_utf8(std::string_view bytes);

// How many of the bytes come before a character at the end whose other bytes are still missing.
[[nodiscard]] std::size_t whole_utf8(std::string_view bytes) noexcept;

}  // namespace stile
