// Parsing and printing of addresses and prefixes; only strict spellings are accepted.
#include "acl/address.h"

#include <charconv>
#include <cstddef>

#include "base/ascii.h"

namespace stile::acl {
namespace {

constexpr std::uint32_t all_v4 = 0xffffffff;
constexpr std::uint64_t all_64 = ~std::uint64_t{0};

// Only digits, without a leading zero, at most `max`. "010" is 8 to inet_aton and 10 to others:
// ambiguous spellings are rejected.
std::optional<std::uint32_t> parse_decimal(std::string_view text, std::uint32_t max) noexcept {
  if (text.empty() || text.size() > 3 || (text[0] == '0' && text.size() > 1)) return std::nullopt;
  std::uint32_t value = 0;
  for (const char c : text) {
    if (!is_digit(c)) return std::nullopt;
    value = value * 10 + static_cast<std::uint32_t>(c - '0');
  }
  if (value > max) return std::nullopt;
  return value;
}

std::optional<std::uint32_t> parse_quad(std::string_view text) noexcept {
  std::uint32_t value = 0;
  for (int part = 0; part < 4; ++part) {
    const std::size_t dot = part == 3 ? text.size() : text.find('.');
    if (dot == std::string_view::npos) return std::nullopt;
    const auto octet = parse_decimal(text.substr(0, dot), 255);
    if (!octet) return std::nullopt;
    value = value << 8 | *octet;
    text.remove_prefix(part == 3 ? dot : dot + 1);
  }
  return value;
}

// Removes one to four hex digits from the front of `text` and returns their value.
std::optional<std::uint16_t> take_group(std::string_view& text) noexcept {
  unsigned value = 0;
  std::size_t digits = 0;
  while (digits < text.size() && digits < 4 && hex_value(text[digits]) >= 0) {
    value = value << 4 | static_cast<unsigned>(hex_value(text[digits++]));
  }
  if (digits == 0) return std::nullopt;
  text.remove_prefix(digits);
  return static_cast<std::uint16_t>(value);
}

// RFC 4291 §2.2: eight groups, one "::" for one or more groups of zeros, and optionally a dotted
// quad as the last two groups.
std::optional<Address> parse_groups(std::string_view text) noexcept {
  std::array<std::uint16_t, 8> groups{};
  std::size_t count = 0;
  std::optional<std::size_t> gap;
  if (text.starts_with("::")) {
    gap = 0;
    text.remove_prefix(2);
  }
  while (!text.empty()) {
    if (count == groups.size()) return std::nullopt;
    if (text.find(':') == std::string_view::npos && text.find('.') != std::string_view::npos) {
      const auto quad = parse_quad(text);
      if (!quad || count > groups.size() - 2) return std::nullopt;
      groups[count++] = static_cast<std::uint16_t>(*quad >> 16);
      groups[count++] = static_cast<std::uint16_t>(*quad & 0xffff);
      break;
    }
    const auto group = take_group(text);
    if (!group) return std::nullopt;
    groups[count++] = *group;
    if (text.empty()) break;
    if (text[0] != ':' || text.size() == 1) return std::nullopt;
    text.remove_prefix(1);
    if (text[0] == ':') {
      if (gap) return std::nullopt;
      gap = count;
      text.remove_prefix(1);
    }
  }
  if (gap ? count == groups.size() : count != groups.size()) return std::nullopt;

  std::array<std::uint8_t, 16> bytes{};
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = gap && i >= *gap ? groups.size() - count + i : i;
    bytes[at * 2] = static_cast<std::uint8_t>(groups[i] >> 8);
    bytes[at * 2 + 1] = static_cast<std::uint8_t>(groups[i] & 0xff);
  }
  return Address::v6(bytes);
}

std::string quad_text(std::uint32_t value) {
  std::array<char, sizeof "255.255.255.255"> text;
  char* at = text.data();
  for (int shift = 24; shift >= 0; shift -= 8) {
    at = std::to_chars(at, at + 3, value >> shift & 0xff).ptr;
    *at++ = '.';
  }
  return {text.data(), at - 1};
}

// RFC 5952: no leading zeros, the longest run of two or more zero groups as "::", lower case.
std::string groups_text(const std::array<std::uint8_t, 16>& bytes) {
  std::array<unsigned, 8> groups{};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    groups[i] = static_cast<unsigned>(bytes[i * 2]) << 8 | bytes[i * 2 + 1];
  }
  std::size_t run_start = 0, run_length = 1;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::size_t end = i;
    while (end < groups.size() && groups[end] == 0) ++end;
    if (end - i > run_length) {
      run_start = i;
      run_length = end - i;
    }
  }
  std::string out;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (run_length > 1 && i == run_start) {
      out += "::";
      i += run_length - 1;
      continue;
    }
    if (!out.empty() && out.back() != ':') out += ':';
    std::array<char, 4> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), groups[i], 16).ptr;
    out.append(digits.data(), end);
  }
  return out;
}

struct Bits {
  std::uint64_t high, low;
};

// The host bits of a prefix of that length.
Bits host_bits(bool is_v4, unsigned length) noexcept {
  if (is_v4) return {0, length >= 32 ? 0 : all_v4 >> length};
  if (length < 64) return {all_64 >> length, all_64};
  return {0, length >= 128 ? 0 : all_64 >> (length - 64)};
}

}  // namespace

Address Address::v4(std::uint32_t host_order) noexcept { return {true, 0, host_order}; }

Address Address::v6(const std::array<std::uint8_t, 16>& bytes) noexcept {
  Address address;
  address.is_v4_ = false;
  for (std::size_t i = 0; i < 8; ++i) {
    address.high_ = address.high_ << 8 | bytes[i];
    address.low_ = address.low_ << 8 | bytes[i + 8];
  }
  return address;
}

std::optional<Address> Address::parse(std::string_view text) noexcept {
  if (text.find(':') != std::string_view::npos) return parse_groups(text);
  const auto quad = parse_quad(text);
  if (!quad) return std::nullopt;
  return v4(*quad);
}

std::array<std::uint8_t, 16> Address::v6_bytes() const noexcept {
  std::array<std::uint8_t, 16> bytes{};
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[i] = static_cast<std::uint8_t>(high_ >> (56 - 8 * i));
    bytes[i + 8] = static_cast<std::uint8_t>(low_ >> (56 - 8 * i));
  }
  return bytes;
}

Address Address::unmapped() const noexcept {
  const bool is_mapped = !is_v4_ && high_ == 0 && low_ >> 32 == 0xffff;
  return is_mapped ? v4(static_cast<std::uint32_t>(low_ & all_v4)) : *this;
}

std::optional<Address> Address::next() const noexcept {
  if (low_ != (is_v4_ ? all_v4 : all_64)) return Address{is_v4_, high_, low_ + 1};
  if (is_v4_ || high_ == all_64) return std::nullopt;
  return Address{false, high_ + 1, 0};
}

std::optional<Address> Address::previous() const noexcept {
  if (low_ != 0) return Address{is_v4_, high_, low_ - 1};
  if (is_v4_ || high_ == 0) return std::nullopt;
  return Address{false, high_ - 1, all_64};
}

std::string Address::text() const {
  if (is_v4_) return quad_text(v4_value());
  const Address inner = unmapped();
  return inner.is_v4() ? "::ffff:" + quad_text(inner.v4_value()) : groups_text(v6_bytes());
}

Result<Prefix> Prefix::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto address = Address::parse(text.substr(0, slash));
  if (!address) {
    return Error{"not an address or prefix: '" + std::string{text} +
                 "' (write 10.0.0.0/8, 10.200.0.2 or fd00::/8)"};
  }
  const std::uint32_t max = address->is_v4() ? 32 : 128;
  std::optional<std::uint32_t> length = max;
  if (slash != std::string_view::npos) length = parse_decimal(text.substr(slash + 1), max);
  if (!length) {
    return Error{"the prefix length of '" + std::string{text} + "' must be 0 to " +
                 std::to_string(max)};
  }
  const Bits host = host_bits(address->is_v4(), *length);
  const Prefix prefix{
      Address{address->is_v4(), address->high() & ~host.high, address->low() & ~host.low},
      static_cast<std::uint8_t>(*length)};
  if (prefix.address != *address) {
    return Error{"'" + std::string{text} + "' has bits set behind its prefix; did you mean " +
                 prefix.text() + " or " + address->text() + "?"};
  }
  return prefix;
}

bool Prefix::contains(const Address& candidate) const noexcept {
  if (candidate.is_v4() != address.is_v4()) return false;
  const Bits host = host_bits(address.is_v4(), length);
  return (candidate.high() & ~host.high) == address.high() &&
         (candidate.low() & ~host.low) == address.low();
}

Address Prefix::last() const noexcept {
  const Bits host = host_bits(address.is_v4(), length);
  return {address.is_v4(), address.high() | host.high, address.low() | host.low};
}

std::string Prefix::text() const { return address.text() + '/' + std::to_string(length); }

}  // namespace stile::acl
