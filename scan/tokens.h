// Tokens: keys and tokens of well-known shapes, and private keys, recognised at their first bytes.
// Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace stile::scan {

enum class Set : std::uint8_t { tokens, private_keys, payment, wallets };
inline constexpr std::size_t set_count = 4;
[[nodiscard]] std::string_view text(Set set) noexcept;

struct Shape {
  std::string_view first;  // what it begins with
  Set set = Set::tokens;
  // Whether a whole one is at this position of the text.
  bool (*matches)(std::string_view text, std::size_t at, const Shape& shape) = nullptr;
  std::uint16_t alphabet = 0;  // of what follows
  std::size_t least = 0;       // characters that follow
  bool ends_there = false;     // exactly as many
};
[[nodiscard]] std::span<const Shape> shapes() noexcept;

}  // namespace stile::scan
