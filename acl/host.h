// Host: a canonical DNS name. Input from an agent is either parsed into one or refused; it is never
// repaired.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "acl/address.h"

namespace stile::acl {

// Lower-case LDH labels in ASCII, no trailing dot, at most 253 bytes. Trivially copyable, so that a
// decision does not allocate.
class Host {
 public:
  static constexpr std::size_t max_length = 253;
  static constexpr std::size_t max_label = 63;

  Host() = default;  // empty: equal to no name
  [[nodiscard]] std::string_view text() const noexcept { return {bytes_.data(), length_}; }
  // Underscores are not LDH. They are kept here because a rule may name them; otherwise the
  // decision refuses the name.
  [[nodiscard]] bool has_underscore() const noexcept { return has_underscore_; }
  friend bool operator==(const Host& a, const Host& b) noexcept { return a.text() == b.text(); }

 private:
  friend struct HostParse parse_host(std::string_view raw) noexcept;
  std::uint8_t length_ = 0;
  bool has_underscore_ = false;
  std::array<char, max_length> bytes_;  // only the first length_ are set
};

struct HostParse {
  enum class Kind : std::uint8_t { malformed, ip_literal, name };
  Kind kind = Kind::malformed;
  Host host;                       // for a name
  std::optional<Address> address;  // for a literal in its strict spelling
};

// The test for IP literals comes first, on the raw text. It matches any text with a bracket or a
// colon, and any text whose last label is a number to inet_aton or to a URL parser.
[[nodiscard]] HostParse parse_host(std::string_view raw) noexcept;

// Splits "host:port" at the colon that a URL parser would use. Validates nothing.
struct Authority {
  std::string_view host;
  std::string_view port;  // without the colon
  bool has_port = false;
};
[[nodiscard]] Authority split_authority(std::string_view raw) noexcept;

// One to five digits, 1..65535, and nothing else.
[[nodiscard]] std::optional<std::uint16_t> parse_port(std::string_view text) noexcept;

}  // namespace stile::acl
