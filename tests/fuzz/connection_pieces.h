// What the ends of a fuzzed connection say in one go, so that short inputs get far.
#pragma once

#include <cstdint>
#include <string_view>

namespace stile::fuzz {

// The number is taken modulo the count of pieces.
[[nodiscard]] std::string_view client_piece(std::uint8_t number);
[[nodiscard]] std::string_view origin_piece(std::uint8_t number);

}  // namespace stile::fuzz
