// What field names mean to a proxy, and the bytes that names and values are made of. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace stile::http {

enum class FieldKind : std::uint8_t {
  end_to_end,  // everything that a proxy passes on unchanged
  host,
  content_length,
  transfer_encoding,
  connection,
  proxy_connection,
  hop_by_hop,  // all others
  expect,
  via,
};

// Case-insensitive, and `_` counts as `-`: servers that pass fields on as variables (CGI and its
// successors) cannot tell the two apart, so they read `Content_Length` as a length. See
// is_disguised.
[[nodiscard]] FieldKind field_kind(std::string_view name) noexcept;

// A name that is not of the kind that field_kind returns, but that some servers take for it.
[[nodiscard]] bool is_disguised(std::string_view name, FieldKind kind) noexcept;

// Case-insensitive, `_` equal to `-`.
[[nodiscard]] bool equals_folded(std::string_view a, std::string_view b) noexcept;

// Host, Content-Length and Transfer-Encoding: they define a message's destination and its end.
[[nodiscard]] constexpr bool is_framing(FieldKind kind) noexcept {
  return kind == FieldKind::host || kind == FieldKind::content_length ||
         kind == FieldKind::transfer_encoding;
}

// Never passed on (RFC 9110 7.6.1, and others that squid and other proxies drop).
[[nodiscard]] constexpr bool is_hop_by_hop(FieldKind kind) noexcept {
  return kind == FieldKind::hop_by_hop || kind == FieldKind::connection ||
         kind == FieldKind::proxy_connection || kind == FieldKind::transfer_encoding;
}

enum ByteClass : std::uint8_t {
  token_byte = 1,   // RFC 9110 5.6.2
  target_byte = 2,  // visible ASCII
  value_byte = 4,   // visible ASCII, blanks, 0x80-0xff
};
extern const std::array<std::uint8_t, 256> byte_classes;

[[nodiscard]] inline bool is_in(ByteClass byte_class, char c) noexcept {
  return (byte_classes[static_cast<std::uint8_t>(c)] & byte_class) != 0;
}

[[nodiscard]] std::string_view without_blanks(std::string_view text) noexcept;

// Calls `take(option)` for each element of a comma list (RFC 9110 5.6.1: empty ones are skipped).
// False if an element is not a token, or if take() returns false.
template <class Take>
[[nodiscard]] bool for_each_option(std::string_view list, Take take) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const std::string_view option = without_blanks(list.substr(0, comma));
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
    if (option.empty()) continue;
    for (const char c : option) {
      if (!is_in(token_byte, c)) return false;
    }
    if (!take(option)) return false;
  }
  return true;
}

}  // namespace stile::http
