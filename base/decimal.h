// append_decimal: a number at the end of a text, without a text of its own.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <string>

namespace stile {

inline void append_decimal(std::string& out, std::uint64_t number) {
  std::array<char, 20> digits;  // 2^64 - 1 has 20
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

}  // namespace stile
