// Canonical host names: the IP-literal test, then LDH syntax.
#include "acl/host.h"

#include <algorithm>

namespace stile::acl {
namespace {

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_hex(char c) noexcept {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// What each byte becomes in a canonical name; 0: it cannot stand in one.
constexpr std::array<char, 256> make_canonical_table() {
  std::array<char, 256> table{};
  for (char c = 'a'; c <= 'z'; ++c) {
    table[static_cast<unsigned char>(c)] = c;
    table[static_cast<unsigned char>(c - 'a' + 'A')] = c;
  }
  for (char c = '0'; c <= '9'; ++c) table[static_cast<unsigned char>(c)] = c;
  table['-'] = '-';
  table['_'] = '_';
  table['.'] = '.';
  return table;
}
constexpr auto canonical_byte = make_canonical_table();

// inet_aton and URL parsers take a text for an IPv4 address when its last label is a number:
// decimal, octal, or hex, where "0x" alone counts as zero to URL parsers.
bool last_label_is_number(std::string_view text) noexcept {
  if (text.ends_with('.')) text.remove_suffix(1);
  const std::size_t dot = text.rfind('.');
  std::string_view label = dot == std::string_view::npos ? text : text.substr(dot + 1);
  if (label.empty()) return false;
  if (std::all_of(label.begin(), label.end(), is_digit)) return true;
  if (!label.starts_with("0x") && !label.starts_with("0X")) return false;
  label.remove_prefix(2);
  return std::all_of(label.begin(), label.end(), is_hex);
}

bool is_literal(std::string_view raw) noexcept {
  return raw.find_first_of("[]:") != std::string_view::npos || last_label_is_number(raw);
}

// The one spelling of an address that is believed: a strict dotted quad, or strict IPv6 in exactly
// one pair of brackets.
std::optional<Address> strict_literal(std::string_view raw) noexcept {
  if (!raw.starts_with('[')) {
    return raw.find(':') == std::string_view::npos ? Address::parse(raw) : std::nullopt;
  }
  if (!raw.ends_with(']')) return std::nullopt;
  raw.remove_prefix(1);
  raw.remove_suffix(1);
  const auto address = Address::parse(raw);
  return address && !address->is_v4() ? address : std::nullopt;
}

}  // namespace

HostParse parse_host(std::string_view raw) noexcept {
  HostParse parse;
  if (is_literal(raw)) {
    parse.kind = HostParse::Kind::ip_literal;
    parse.address = strict_literal(raw);
    return parse;
  }
  if (raw.ends_with('.')) raw.remove_suffix(1);
  if (raw.empty() || raw.size() > Host::max_length) return parse;

  Host& host = parse.host;
  std::size_t label_start = 0;
  bool has_underscore = false;
  const auto label_is_good = [&](std::size_t end) {
    const std::size_t length = end - label_start;
    return length >= 1 && length <= Host::max_label && raw[label_start] != '-' &&
           raw[end - 1] != '-';
  };
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const char c = canonical_byte[static_cast<unsigned char>(raw[i])];
    if (c == 0) return parse;
    if (c == '.') {
      if (!label_is_good(i)) return parse;
      label_start = i + 1;
    }
    has_underscore = has_underscore || c == '_';
    host.bytes_[i] = c;
  }
  if (!label_is_good(raw.size())) return parse;
  host.length_ = static_cast<std::uint8_t>(raw.size());
  host.has_underscore_ = has_underscore;
  parse.kind = HostParse::Kind::name;
  return parse;
}

Authority split_authority(std::string_view raw) noexcept {
  std::size_t colon = std::string_view::npos;
  if (raw.starts_with('[')) {
    const std::size_t bracket = raw.rfind(']');
    if (bracket != std::string_view::npos) colon = raw.find(':', bracket);
  } else {
    colon = raw.find(':');
    // "::1:443", "fe80::1:443": an IPv6 address without its brackets. A URL parser refuses it; cut
    // at the last colon, its host is refused as the address that it is.
    const bool starts_like_v6 =
        colon != std::string_view::npos && colon <= 4 &&
        std::all_of(raw.begin(), raw.begin() + static_cast<std::ptrdiff_t>(colon), is_hex);
    if (starts_like_v6) colon = raw.rfind(':');
  }
  if (colon == std::string_view::npos) return {raw, {}, false};
  return {raw.substr(0, colon), raw.substr(colon + 1), true};
}

std::optional<std::uint16_t> parse_port(std::string_view text) noexcept {
  if (text.empty() || text.size() > 5 || !std::all_of(text.begin(), text.end(), is_digit)) {
    return std::nullopt;
  }
  std::uint32_t value = 0;
  for (const char c : text) value = value * 10 + static_cast<std::uint32_t>(c - '0');
  if (value == 0 || value > 65535) return std::nullopt;
  return static_cast<std::uint16_t>(value);
}

}  // namespace stile::acl
