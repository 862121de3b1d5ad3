// parse_url: the address of a webhook.
#include <charconv>

#include "base/ascii.h"
#include "notify/webhook.h"

namespace stile::notify {
namespace {

bool is_this_host(std::string_view host) {
  const bool is_address = host.find_first_not_of("0123456789.") == std::string_view::npos;
  return host == "localhost" || host == "[::1]" || (is_address && host.starts_with("127."));
}

Result<Url> parse_any(std::string_view text) {
  constexpr std::string_view secure = "https://", plain = "http://";
  Url url;
  if (text.starts_with(secure)) {
    text.remove_prefix(secure.size());
  } else if (text.starts_with(plain)) {
    text.remove_prefix(plain.size());
    url.is_tls = false;
    url.port = 80;
  } else {
    return Error{"a webhook begins with https://"};
  }
  for (const char one : text) {
    if (one <= ' ' || one > '~')
      return Error{"a URL has no blanks and no characters outside ASCII"};
  }
  const auto end = text.find_first_of("/?#");
  std::string_view authority = text.substr(0, end);
  if (end != std::string_view::npos) {
    const auto rest = text.substr(end, text.find('#') - end);
    url.path = rest.starts_with('/') ? std::string{rest} : '/' + std::string{rest};
  }
  if (authority.find('@') != std::string_view::npos) {
    return Error{"a webhook has no user and password in its URL"};
  }
  const auto colon = authority.rfind(':');
  if (colon != std::string_view::npos && authority.find(']', colon) == std::string_view::npos) {
    const auto port = authority.substr(colon + 1);
    const auto [stop, failed] = std::from_chars(port.data(), port.data() + port.size(), url.port);
    if (failed != std::errc{} || stop != port.data() + port.size() || url.port == 0) {
      return Error{"the port of the webhook is not a number from 1 to 65535"};
    }
    authority = authority.substr(0, colon);
  }
  if (authority.empty()) return Error{"the webhook has no host"};
  url.host = lower_case(authority);
  return url;
}

}  // namespace

Result<Url> parse_url(std::string_view text) {
  auto url = parse_any(text);
  if (url && !url->is_tls && !is_this_host(url->host)) {
    return Error{"http:// is for this host only; use https://"};
  }
  return url;
}

Result<Url> parse_proxy(std::string_view text) {
  auto url = parse_any(text);
  if (url && url->is_tls) return Error{"a proxy begins with http://"};
  return url;
}

}  // namespace stile::notify
