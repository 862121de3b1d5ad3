// allowing_pattern: what an operator has to allow, from what was refused.
#include "acl/allowing_pattern.h"

#include <gtest/gtest.h>

namespace stile::acl {
namespace {

TEST(AllowingPattern, IsTheNarrowestThatHelps) {
  const struct {
    Reason reason;
    Scheme scheme;
    std::string_view host;
    std::uint16_t port;
    std::string_view pattern;
  } cases[] = {
      {Reason::host_not_allowed, Scheme::tunnel, "a.test", 443, "a.test"},
      {Reason::host_not_allowed, Scheme::tunnel, "a.test", 8443, "a.test:8443"},
      {Reason::host_not_allowed, Scheme::tunnel, "a.test", 0, "a.test"},
      // 443 was refused as a port, so a bare name would not cover it.
      {Reason::port_not_allowed, Scheme::tunnel, "a.test", 443, "a.test:443"},
      {Reason::port_not_allowed, Scheme::tunnel, "a.test", 22, "tcp://a.test:22"},
      // Protocols that do not begin with TLS.
      {Reason::port_not_allowed, Scheme::tunnel, "a.test", 5432, "tcp://a.test:5432"},
      {Reason::host_not_allowed, Scheme::tunnel, "a.test", 80, "tcp://a.test:80"},
      {Reason::not_tls, Scheme::tunnel, "a.test", 9000, "tcp://a.test:9000"},
      {Reason::client_hello_timeout, Scheme::tunnel, "a.test", 25, "tcp://a.test:25"},
      {Reason::host_not_allowed, Scheme::http, "a.test", 80, "http://a.test"},
      {Reason::port_not_allowed, Scheme::http, "a.test", 8080, "http://a.test:8080"},
      // No pattern helps.
      {Reason::host_denied, Scheme::tunnel, "a.test", 443, ""},
      {Reason::address_forbidden, Scheme::tunnel, "a.test", 443, ""},
      {Reason::ip_literal, Scheme::tunnel, "192.0.2.1", 443, ""},
      {Reason::host_not_allowed, Scheme::tunnel, "192.0.2.1", 443, ""},
      // What an agent could send to have it pasted.
      {Reason::host_not_allowed, Scheme::tunnel, "$(id).test", 443, ""},
      {Reason::host_not_allowed, Scheme::tunnel, "*", 443, ""},
      {Reason::host_not_allowed, Scheme::tunnel, ".com", 443, ""},
      {Reason::host_not_allowed, Scheme::tunnel, "-x.test", 443, ""},
      {Reason::host_not_allowed, Scheme::tunnel, "a.test --expose /", 443, ""},
      {Reason::host_not_allowed, Scheme::tunnel, "", 443, ""},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(allowing_pattern(c.reason, c.scheme, c.host, c.port), c.pattern)
        << text(c.reason) << ' ' << c.host << ':' << c.port;
  }
}

}  // namespace
}  // namespace stile::acl
