// IP addresses and prefixes as values, and which of them are global unicast.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stile::acl {

class Address {
 public:
  Address() = default;  // 0.0.0.0: never dialled, since 0.0.0.0/8 is special
  static Address v4(std::uint32_t host_order) noexcept;
  static Address v6(const std::array<std::uint8_t, 16>& bytes) noexcept;

  // Accepts only strict spellings: a dotted quad without leading zeros, or RFC 4291 text without
  // zone and without brackets. Other spellings that resolvers accept are rejected.
  static std::optional<Address> parse(std::string_view text) noexcept;

  [[nodiscard]] bool is_v4() const noexcept { return is_v4_; }
  [[nodiscard]] std::uint32_t v4_value() const noexcept { return static_cast<std::uint32_t>(low_); }
  [[nodiscard]] std::array<std::uint8_t, 16> v6_bytes() const noexcept;
  [[nodiscard]] std::uint64_t high() const noexcept { return high_; }
  [[nodiscard]] std::uint64_t low() const noexcept { return low_; }

  // Turns ::ffff:a.b.c.d into a.b.c.d and keeps any other address. For source addresses only: as a
  // destination, a mapped address is forbidden and never unwrapped.
  [[nodiscard]] Address unmapped() const noexcept;
  // The adjacent addresses; nullopt at the ends of the family.
  [[nodiscard]] std::optional<Address> next() const noexcept;
  [[nodiscard]] std::optional<Address> previous() const noexcept;
  [[nodiscard]] std::string text() const;

  friend auto operator<=>(const Address&, const Address&) = default;

 private:
  friend struct Prefix;
  Address(bool is_v4, std::uint64_t high, std::uint64_t low) noexcept
      : is_v4_{is_v4}, high_{high}, low_{low} {}

  bool is_v4_ = true;
  std::uint64_t high_ = 0;  // v6: the first 64 bits; v4: 0
  std::uint64_t low_ = 0;   // v6: the last 64 bits; v4: the address
};

struct Prefix {
  Address address;  // host bits are zero
  std::uint8_t length = 0;

  // "10.0.0.0/8", "10.200.0.2" (a /32), "fd00::/8". Set host bits are an error: such a line is
  // ambiguous.
  static Result<Prefix> parse(std::string_view text);
  [[nodiscard]] bool contains(const Address& candidate) const noexcept;
  [[nodiscard]] Address first() const noexcept { return address; }
  [[nodiscard]] Address last() const noexcept;
  [[nodiscard]] std::string text() const;

  friend auto operator<=>(const Prefix&, const Prefix&) = default;
};

// True for addresses that may be dialled without an exception; see docs/policy.md, step 8. IPv4:
// outside the IANA special-purpose registry, 224/4, 240/4 and 168.63.129.16. IPv6: inside 2000::/3
// and outside that registry; never an address that embeds an IPv4 one.
[[nodiscard]] bool is_global_unicast(const Address& address) noexcept;

// The registry row that makes an address special ("private-use 10.0.0.0/8"), for messages; empty
// for global unicast.
[[nodiscard]] std::string_view special_range_name(const Address& address) noexcept;

}  // namespace stile::acl
