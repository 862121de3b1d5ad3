// split_authority and parse_port.
#include <gtest/gtest.h>

#include <string>

#include "acl/host.h"

namespace stile::acl {
namespace {

using namespace std::string_view_literals;

TEST(AuthoritySplit, CutsWhereAUrlParserWould) {
  const struct {
    std::string_view raw, host, port;
    bool has_port;
  } cases[] = {
      {"example.com:443", "example.com", "443", true},
      {"example.com", "example.com", "", false},
      {"example.com:", "example.com", "", true},
      {":443", "", "443", true},
      {"", "", "", false},
      {"[::1]:443", "[::1]", "443", true},
      {"[::1]", "[::1]", "", false},
      {"[::1]x:443", "[::1]x", "443", true},
      {"[[::1]]:443", "[[::1]]", "443", true},
      {"[::1", "[::1", "", false},
      {"example.com:443:22", "example.com", "443:22", true},
      {"user:secret@example.com:443", "user", "secret@example.com:443", true},
      {"1.2.3.4:443", "1.2.3.4", "443", true},
      // IPv6 without brackets keeps its colons, so that it is refused as an address
      {"::1:443", "::1", "443", true},
      {"fe80::1%eth0:443", "fe80::1%eth0", "443", true},
      {"2001:db8::1:443", "2001:db8::1", "443", true},
      {"abc:443", "abc", "443", true},
  };
  for (const auto& c : cases) {
    const Authority authority = split_authority(c.raw);
    EXPECT_EQ(authority.host, c.host) << c.raw;
    EXPECT_EQ(authority.port, c.port) << c.raw;
    EXPECT_EQ(authority.has_port, c.has_port) << c.raw;
  }
}

TEST(PortParse, TakesOneToFiveDigitsInRange) {
  EXPECT_EQ(parse_port("1"), 1);
  EXPECT_EQ(parse_port("443"), 443);
  EXPECT_EQ(parse_port("00443"), 443);
  EXPECT_EQ(parse_port("65535"), 65535);
}

TEST(PortParse, RefusesEverythingElse) {
  for (const auto text : {""sv,
                          "0"sv,
                          "00000"sv,
                          "65536"sv,
                          "65979"sv,
                          "99999"sv,
                          "000443"sv,
                          "443x"sv,
                          "x443"sv,
                          "+443"sv,
                          "-443"sv,
                          " 443"sv,
                          "443 "sv,
                          "4 43"sv,
                          "443:22"sv,
                          "0x1bb"sv,
                          "4e2"sv,
                          "443\0"sv,
                          "\xd9\xa4\xd9\xa4\xd9\xa3"sv,
                          "http"sv,
                          "4294967739"sv}) {
    EXPECT_FALSE(parse_port(text)) << text;
  }
}

}  // namespace
}  // namespace stile::acl
