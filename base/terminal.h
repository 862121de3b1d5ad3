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

// Lines of untrusted text in UTF-8, without the characters that control a terminal: U+0000 to
// U+001F but for newlines and tabs, U+007F, and U+0080 to U+009F, of which U+009B begins a sequence
// like ESC and [.
[[nodiscard]] std::string without_controls(std::string_view text);

}  // namespace stile
