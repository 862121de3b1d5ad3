// Target: the path and the query of a request, and the value of a cookie; bytes to values.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace stile::web {

struct Target {
  std::string path;                          // as sent: no route contains an escape
  std::map<std::string, std::string> query;  // decoded
  [[nodiscard]] std::string value(const std::string& key) const;  // "": missing
};

inline constexpr std::size_t max_query_members = 16;

// nullopt: not an origin-form target, a bad escape, a duplicate key, or too many members.
[[nodiscard]] std::optional<Target> parse_target(std::string_view text);

// The value of a cookie in a Cookie header. A name that appears twice has no value: a neighbour on
// another port may have planted one of them.
[[nodiscard]] std::string cookie_value(std::string_view header, std::string_view name);

}  // namespace stile::web
