// Origin: parsed strictly, compared as text.
#include "web/origin.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/quoted.h"

namespace stile::web {
namespace {

constexpr std::size_t most_authority_bytes = 256;

bool belongs_to_authority(char byte) {
  return is_digit(byte) || (byte >= 'a' && byte <= 'z') ||
         std::string_view{".-:[]"}.find(byte) != std::string_view::npos;
}

}  // namespace

Result<Origin> parse_origin(std::string_view text) {
  for (const std::string_view scheme : {"http", "https"}) {
    const auto start = std::string{scheme} + "://";
    if (!text.starts_with(start)) continue;
    const auto authority = text.substr(start.size());
    if (authority.empty() || authority.size() > most_authority_bytes ||
        !std::all_of(authority.begin(), authority.end(), belongs_to_authority)) {
      break;
    }
    return Origin{std::string{scheme}, std::string{authority}};
  }
  return Error{in_quotes(text) +
               " is not an origin; expected http://NAME:PORT or https://NAME, in lower case"};
}

bool is_own_host(const std::vector<Origin>& own, std::string_view host) noexcept {
  return std::any_of(own.begin(), own.end(),
                     [&](const Origin& origin) { return origin.authority == host; });
}

std::string url_of_host(const std::vector<Origin>& own, std::string_view host) {
  const auto found = std::find_if(own.begin(), own.end(),
                                  [&](const Origin& origin) { return origin.authority == host; });
  return found == own.end() ? "" : found->text();
}

bool is_own_origin(const std::vector<Origin>& own, std::string_view host,
                   std::string_view origin) noexcept {
  return std::any_of(own.begin(), own.end(), [&](const Origin& one) {
    return one.authority == host && origin.size() == one.scheme.size() + 3 + host.size() &&
           origin.starts_with(one.scheme) && origin.substr(one.scheme.size()).starts_with("://") &&
           origin.ends_with(host);
  });
}

}  // namespace stile::web
