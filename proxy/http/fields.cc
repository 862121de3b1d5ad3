// Field names by kind, and the byte classes of RFC 9110 as one table.
#include "proxy/http/fields.h"

#include <algorithm>

#include "base/ascii.h"
#include "proxy/http/head.h"

namespace stile::http {
namespace {

constexpr std::array<std::uint8_t, 256> make_byte_classes() {
  std::array<std::uint8_t, 256> classes{};
  constexpr std::string_view token_marks = "!#$%&'*+-.^_`|~";
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const bool is_alnum =
        (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    const bool is_visible = c > 0x20 && c < 0x7f;
    if (is_alnum || token_marks.find(static_cast<char>(c)) != std::string_view::npos) {
      classes[c] |= token_byte;
    }
    if (is_visible) classes[c] |= target_byte;
    if (is_visible || c == ' ' || c == '\t' || c >= 0x80) classes[c] |= value_byte;
  }
  return classes;
}

constexpr char folded(char c) noexcept { return c == '_' ? '-' : to_lower(c); }

constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }

}  // namespace

constinit const std::array<std::uint8_t, 256> byte_classes = make_byte_classes();

bool equals_folded(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return folded(x) == folded(y); });
}

FieldKind field_kind(std::string_view name) noexcept {
  using enum FieldKind;
  const auto is = [name](std::string_view known) { return equals_folded(name, known); };
  switch (name.size()) {  // the length alone rules out most names
    case 2:
      return is("te") ? hop_by_hop : end_to_end;
    case 3:
      return is("via") ? via : end_to_end;
    case 4:
      return is("host") ? host : end_to_end;
    case 6:
      return is("expect") ? expect : end_to_end;
    case 7:
      return is("trailer") || is("upgrade") ? hop_by_hop : end_to_end;
    case 10:
      if (is("connection")) return connection;
      return is("keep-alive") ? hop_by_hop : end_to_end;
    case 14:
      return is("content-length") ? content_length : end_to_end;
    case 16:
      return is("proxy-connection") ? proxy_connection : end_to_end;
    case 17:
      return is("transfer-encoding") ? transfer_encoding : end_to_end;
    case 18:
      return is("proxy-authenticate") ? hop_by_hop : end_to_end;
    case 19:
      return is("proxy-authorization") ? hop_by_hop : end_to_end;
    default:
      return end_to_end;
  }
}

bool is_disguised(std::string_view name, FieldKind kind) noexcept {
  return kind != FieldKind::end_to_end && name.find('_') != std::string_view::npos;
}

std::string_view without_blanks(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace stile::http
