// Listeners and DNS servers as text.
#include "config/endpoint.h"

#include <gtest/gtest.h>

namespace stile::config {
namespace {

TEST(Endpoint, ReadsBackAsItWasWritten) {
  for (const char* text : {"127.0.0.1:3128", "0.0.0.0:1", "[::1]:65535", "unix:/run/x.sock"}) {
    const auto endpoint = parse_endpoint(text);
    ASSERT_TRUE(endpoint) << text;
    EXPECT_EQ(endpoint->text(), text);
  }
}

struct EndpointCase {
  std::string text;
  const char* problem;
};

TEST(Endpoint, SaysWhatIsWrong) {
  const EndpointCase cases[] = {
      {"", "has no port"},
      {"127.0.0.1", "has no port"},
      {"127.0.0.1:", "the port is not a number from 1 to 65535"},
      {"127.0.0.1:0", "the port is not a number from 1 to 65535"},
      {"127.0.0.1:65536", "the port is not a number from 1 to 65535"},
      {"127.0.0.1:+80", "the port is not a number from 1 to 65535"},
      {"localhost:3128", "not an IP address"},
      {":3128", "not an IP address"},
      {"127.1:3128", "not an IP address"},
      {"::1:3128", "put an IPv6 address in brackets, as in [::1]:3128"},
      {"[127.0.0.1]:3128", "brackets are for IPv6 addresses only"},
      {"[::1%lo]:3128", "not an IP address"},
      {"unix:run/x", "the path after unix: must begin with /"},
      {"unix:", "the path after unix: must begin with /"},
      {"unix:/" + std::string(107, 'x'), "a unix socket's path has at most 107 bytes"},
  };
  for (const auto& [text, problem] : cases) {
    const auto endpoint = parse_endpoint(text);
    ASSERT_FALSE(endpoint) << text;
    EXPECT_EQ(endpoint.error().message, problem) << text;
  }
}

TEST(DnsServer, HasPort53UnlessSaid) {
  EXPECT_EQ(parse_dns_server("9.9.9.9")->text(), "9.9.9.9:53");
  EXPECT_EQ(parse_dns_server("9.9.9.9:5353")->text(), "9.9.9.9:5353");
  EXPECT_EQ(parse_dns_server("2620:fe::9")->text(), "[2620:fe::9]:53");
  EXPECT_EQ(parse_dns_server("[2620:fe::9]:5353")->text(), "[2620:fe::9]:5353");
  EXPECT_FALSE(parse_dns_server("unix:/run/dns"));
  EXPECT_EQ(parse_dns_server("dns.example.com").error().message, "not an IP address");
}

TEST(IsLoopback, KnowsBothFamilies) {
  for (const char* text : {"127.0.0.1", "127.255.0.3", "::1"}) {
    EXPECT_TRUE(is_loopback(*acl::Address::parse(text))) << text;
  }
  for (const char* text : {"126.255.255.255", "128.0.0.1", "::", "::2", "::ffff:127.0.0.1"}) {
    EXPECT_FALSE(is_loopback(*acl::Address::parse(text))) << text;
  }
}

}  // namespace
}  // namespace stile::config
