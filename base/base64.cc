// Base64 (RFC 4648 section 4), with padding.
#include "base/base64.h"

#include <cstdint>

namespace stile {

std::string base64(std::string_view bytes) {
  constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const auto byte = [&](std::size_t index) {
      return std::uint32_t{index < bytes.size() ? static_cast<std::uint8_t>(bytes[index])
                                                : std::uint8_t{0}};
    };
    const std::uint32_t three = byte(at) << 16 | byte(at + 1) << 8 | byte(at + 2);
    out += alphabet[three >> 18];
    out += alphabet[three >> 12 & 63];
    out += at + 1 < bytes.size() ? alphabet[three >> 6 & 63] : '=';
    out += at + 2 < bytes.size() ? alphabet[three & 63] : '=';
  }
  return out;
}

}  // namespace stile
