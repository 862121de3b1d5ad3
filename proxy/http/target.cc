// Targets of requests: split into authority, path and query; nothing is decoded or repaired.
#include <algorithm>

#include "base/ascii.h"
#include "proxy/http/fields.h"
#include "proxy/http/head.h"

namespace stile::http {

namespace {

// `#` and `\`: URL parsers disagree on where the host ends. Control bytes split lines.
bool is_clean(std::string_view target) noexcept {
  return std::all_of(target.begin(), target.end(),
                     [](char c) { return is_in(target_byte, c) && c != '#' && c != '\\'; });
}

std::optional<AbsoluteTarget> parse_with_scheme(std::string_view target,
                                                std::string_view scheme) noexcept {
  if (!equal_ignoring_case(target.substr(0, scheme.size()), scheme)) return std::nullopt;
  if (!is_clean(target)) return std::nullopt;

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

// Of a client that believes to speak to the origin itself.
std::optional<AbsoluteTarget> parse_to_origin(std::string_view target,
                                              std::string_view scheme) noexcept {
  if (target == "*") return AbsoluteTarget{{}, "/", "*", false};
  if (!target.starts_with('/')) return parse_with_scheme(target, scheme);
  if (!is_clean(target)) return std::nullopt;
  return AbsoluteTarget{{}, target, target.substr(0, target.find('?')), true};
}

}  // namespace

std::optional<AbsoluteTarget> parse_absolute_target(std::string_view target) noexcept {
  return parse_with_scheme(target, "http://");
}

std::optional<AbsoluteTarget> parse_inside_target(std::string_view target) noexcept {
  return parse_to_origin(target, "https://");
}

std::optional<AbsoluteTarget> parse_captured_target(std::string_view target) noexcept {
  return parse_to_origin(target, "http://");
}

std::string_view fault_of_target(std::string_view target) noexcept {
  constexpr std::string_view https = "https://";
  if (equal_ignoring_case(target.substr(0, https.size()), https)) {
    return "an https URL goes through CONNECT, not in a plain request";
  }
  if (target.starts_with('/')) return "the target is a path; a proxy needs the whole URL";
  return "the target is not a valid http URL (user info, \\ and # are refused)";
}

}  // namespace stile::http
