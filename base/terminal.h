// Terminal: the properties of standard output, and text that is safe to print there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stile {

enum class Colour : std::uint8_t { none, bold, dim, red, green, yellow };

struct Terminal {
  bool has_colour = false;
  std::size_t width = 0;  // 0: not a terminal, so nothing is cut

  // For standard output. No colour without a terminal, on a dumb one, or with NO_COLOR.
  static Terminal of_output();

  [[nodiscard]] std::string coloured(std::string_view text, Colour colour) const;
};

}  // namespace stile
