// Escaping for messages.
#include "acl/quoted.h"

#include <cstddef>

namespace stile::acl {

std::string quoted(std::string_view text) {
  constexpr std::size_t max_shown = 80;
  constexpr std::string_view hex = "0123456789abcdef";
  std::string out = "'";
  for (const char c : text.substr(0, max_shown)) {
    if (c >= 0x20 && c < 0x7f) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
    }
  }
  return out + (text.size() > max_shown ? "...'" : "'");
}

}  // namespace stile::acl
