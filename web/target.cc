// Target: split at ? & and =, percent-decoded once.
#include "web/target.h"

#include <algorithm>

#include "base/ascii.h"

namespace stile::web {
namespace {

std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      out += text[at];
      continue;
    }
    const int high = at + 2 < text.size() ? hex_value(text[at + 1]) : -1;
    const int low = at + 2 < text.size() ? hex_value(text[at + 2]) : -1;
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    at += 2;
  }
  return out;
}

// Takes the text up to the separator, and removes both from the rest.
std::string_view take_until(std::string_view& rest, char separator) {
  const auto end = std::min(rest.find(separator), rest.size());
  const auto part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

}  // namespace

std::string Target::value(const std::string& key) const {
  const auto found = query.find(key);
  return found == query.end() ? "" : found->second;
}

std::optional<Target> parse_target(std::string_view text) {
  if (!text.starts_with('/')) return std::nullopt;
  Target target;
  target.path = take_until(text, '?');
  while (!text.empty()) {
    auto value_text = take_until(text, '&');
    const auto key = decoded(take_until(value_text, '='));
    const auto value = decoded(value_text);
    if (!key || !value || target.query.size() == max_query_members) return std::nullopt;
    if (!target.query.emplace(*key, *value).second) return std::nullopt;
  }
  return target;
}

std::string cookie_value(std::string_view header, std::string_view name) {
  std::optional<std::string_view> found;
  while (!header.empty()) {
    auto member = take_until(header, ';');
    while (member.starts_with(' ')) member.remove_prefix(1);
    const bool has_value = member.find('=') != std::string_view::npos;
    if (take_until(member, '=') != name || !has_value) continue;
    if (found) return {};
    found = member;
  }
  return std::string{found.value_or("")};
}

}  // namespace stile::web
