// allowing_pattern: the narrowest pattern that would allow a refused request.
#include "acl/allowing_pattern.h"

#include <array>

#include "acl/host.h"
#include "base/contains.h"

namespace stile::acl {
namespace {

// Protocols that do not begin with a TLS hello, by their usual port.
constexpr std::array<std::uint16_t, 11> ports_without_tls{21,  22,   25,   80,   110, 143,
                                                          587, 3306, 5432, 6379, 9418};

bool speaks_no_tls(std::uint16_t port) { return contains(ports_without_tls, port); }

Pattern::Reach needed_reach(Reason reason, Scheme scheme, std::uint16_t port) {
  if (scheme == Scheme::http) return Pattern::Reach::http;
  // The tunnel has no TLS, or the client does not start it: `name:port` would be refused later.
  const bool is_plain = reason == Reason::not_tls || reason == Reason::client_hello_timeout;
  if (is_plain || speaks_no_tls(port)) return Pattern::Reach::tcp;
  // A bare pattern covers only the configured ports; a refused port is not one of them. Without a
  // port it was only asked for the name.
  const bool is_usual = (port == 443 || port == 0) && reason == Reason::host_not_allowed;
  return is_usual ? Pattern::Reach::bare : Pattern::Reach::tunnel;
}

}  // namespace

std::string allowing_pattern(Reason reason, Scheme scheme, std::string_view host,
                             std::uint16_t port) {
  if (reason != Reason::host_not_allowed && reason != Reason::port_not_allowed &&
      reason != Reason::not_tls && reason != Reason::client_hello_timeout) {
    return {};
  }
  const HostParse parsed = parse_host(host);
  const Pattern::Reach reach = needed_reach(reason, scheme, port);
  const bool lacks_port = reach != Pattern::Reach::bare && port == 0;
  if (parsed.kind != HostParse::Kind::name || lacks_port) return {};
  return pattern_text(Pattern::Kind::exact, reach, port, parsed.host.text());
}

}  // namespace stile::acl
