// The directives of squid.conf that are ignored, and why that is safe.
#pragma once

#include <string>
#include <string_view>

namespace stile::squid {

enum class Passed : std::uint8_t {
  no,       // it is supported or unknown: the parser decides
  caching,  // Stile has no cache
  tuning,   // how squid works, not what it allows
  // Harmless with the words `allow all` or `deny all` that turn it off; refused with any other.
  if_allow_all,
  if_deny_all,
  if_off,
};
[[nodiscard]] Passed passed_over(std::string_view directive) noexcept;

// The directive or acl type that was probably meant; empty: none is close.
[[nodiscard]] std::string nearest_directive(std::string_view name);

// Types of acl that squid has and Stile does not. A squid.conf may define them as long as no access
// rule uses them.
[[nodiscard]] bool is_foreign_acl_type(std::string_view type) noexcept;

}  // namespace stile::squid
