// Which directives of squid.conf are passed over, and why that is safe.
#pragma once

#include <string>
#include <string_view>

namespace stile::squid {

enum class Passed : std::uint8_t {
  no,       // it is understood, or nobody knows it: the parser decides
  caching,  // nothing is cached here
  tuning,   // how squid does things, not what it lets through
  // Harmless with the words `allow all` or `deny all` that switch it off, refused with any other.
  if_allow_all,
  if_deny_all,
  if_off,
};
[[nodiscard]] Passed passed_over(std::string_view directive) noexcept;

// The directive or acl type that was probably meant; empty: none is near.
[[nodiscard]] std::string nearest_directive(std::string_view name);

// Types of acl that squid has and Stile does not; they may stand in a squid.conf as long as no rule
// about access uses them.
[[nodiscard]] bool is_foreign_acl_type(std::string_view type) noexcept;

}  // namespace stile::squid
