// Base64 (RFC 4648 section 4), with padding.
#include "base/base64.h"

#include <cstdint>

namespace stile {
namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string base64(std::string_view bytes) {
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

std::optional<std::string> from_base64(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  std::size_t digits = 0, padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r') continue;
    const std::size_t value = alphabet.find(c);
    if (c == '=') {
      ++padding;
    } else if (value == std::string_view::npos || padding > 0) {
      return std::nullopt;
    }
    bits = bits << 6 | static_cast<std::uint32_t>(c == '=' ? 0 : value);
    if (++digits % 4 != 0) continue;
    for (const int shift : {16, 8, 0}) out += static_cast<char>(bits >> shift & 0xff);
    bits = 0;
  }
  if (digits % 4 != 0 || padding > 2) return std::nullopt;
  out.erase(out.size() - padding);
  return out;
}

}  // namespace stile
