// Escaping for messages.
#include "acl/quoted.h"

#include <cstddef>

#include "base/ascii.h"

namespace stile::acl {

std::string quoted(std::string_view text) {
  constexpr std::size_t max_shown = 80;
  std::string out = "'";
  for (const char c : text.substr(0, max_shown)) {
    if (c >= 0x20 && c < 0x7f) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += {'\\', 'x', hex_digits[byte >> 4], hex_digits[byte & 15]};
    }
  }
  return out + (text.size() > max_shown ? "...'" : "'");
}

}  // namespace stile::acl
