// Absolute-form targets: split into authority, path and query; nothing is decoded or repaired.
#include <algorithm>

#include "base/ascii.h"
#include "proxy/http/fields.h"
#include "proxy/http/head.h"

namespace stile::http {

std::optional<AbsoluteTarget> parse_absolute_target(std::string_view target) noexcept {
  constexpr std::string_view scheme = "http://";
  if (!equal_ignoring_case(target.substr(0, scheme.size()), scheme)) return std::nullopt;
  // `#` and `\`: URL parsers disagree on where the host ends. Control bytes split lines.
  const bool is_clean = std::all_of(target.begin(), target.end(), [](char c) {
    return is_in(target_byte, c) && c != '#' && c != '\\';
  });
  if (!is_clean) return std::nullopt;

  const std::string_view rest = target.substr(scheme.size());
  const std::size_t authority_end = std::min(rest.find_first_of("/?"), rest.size());
  AbsoluteTarget parsed;
  parsed.authority = rest.substr(0, authority_end);
  // User info is the oldest trick to show one host and mean another.
  if (parsed.authority.empty() || parsed.authority.find('@') != std::string_view::npos) {
    return std::nullopt;
  }
  parsed.path_and_query = rest.substr(authority_end);
  parsed.has_path_or_query = !parsed.path_and_query.empty();
  if (!parsed.has_path_or_query) parsed.path_and_query = "/";
  parsed.path = parsed.path_and_query.substr(0, parsed.path_and_query.find('?'));
  if (parsed.path.empty()) parsed.path = "/";
  return parsed;
}

}  // namespace stile::http
