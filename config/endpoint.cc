// Text to Endpoint and back.
#include "config/endpoint.h"

#include "acl/host.h"
#include "base/local_socket.h"

namespace stile::config {
namespace {

constexpr std::string_view unix_prefix = "unix:";
constexpr std::uint16_t dns_port = 53;

Result<Endpoint> parse_unix(std::string_view path) {
  if (path.empty() || path.front() != '/') return Error{"the path after unix: must begin with /"};
  if (path.find('\0') != std::string_view::npos) return Error{"a NUL byte in a path"};
  if (path.size() > max_socket_path) {
    return Error{"a unix socket's path has at most " + std::to_string(max_socket_path) + " bytes"};
  }
  return Endpoint{{}, 0, std::string{path}};
}

// "1.2.3.4:80" or "[::1]:80"; a bare IPv6 address with a port would be ambiguous.
Result<Endpoint> parse_tcp(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return Error{"has no port"};
  std::string_view host = text.substr(0, colon);
  const auto port = acl::parse_port(text.substr(colon + 1));
  if (!port) return Error{"the port is not a number from 1 to 65535"};
  const bool has_brackets = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (has_brackets) host = host.substr(1, host.size() - 2);
  const auto address = acl::Address::parse(host);
  if (!address) return Error{"not an IP address"};
  if (address->is_v4() == has_brackets) {
    return Error{has_brackets ? "brackets are for IPv6 addresses only"
                              : "put an IPv6 address in brackets, as in [::1]:3128"};
  }
  return Endpoint{*address, *port, {}};
}

}  // namespace

std::string Endpoint::text() const {
  if (!unix_path.empty()) return std::string{unix_prefix} + unix_path;
  const std::string host = address.is_v4() ? address.text() : '[' + address.text() + ']';
  return host + ':' + std::to_string(port);
}

Result<Endpoint> parse_endpoint(std::string_view text) {
  if (text.substr(0, unix_prefix.size()) == unix_prefix) {
    return parse_unix(text.substr(unix_prefix.size()));
  }
  return parse_tcp(text);
}

Result<Endpoint> parse_dns_server(std::string_view text) {
  if (const auto address = acl::Address::parse(text)) return Endpoint{*address, dns_port, {}};
  if (text.find(':') == std::string_view::npos) return Error{"not an IP address"};
  return parse_tcp(text);
}

bool is_loopback(const acl::Address& address) noexcept {
  if (address.is_v4()) return address.v4_value() >> 24U == 127;
  return address.high() == 0 && address.low() == 1;
}

}  // namespace stile::config
