#include "proxy/net/sockaddr.h"

#include <gtest/gtest.h>

namespace stile::net {
namespace {

TEST(EndpointText, WritesEveryOctetAsTheAddressDoes) {
  for (std::uint32_t value = 0; value < 256; ++value) {
    const auto address = acl::Address::v4(value << 24 | value << 8 | 7);
    EXPECT_EQ(endpoint_text(address, 443), address.text() + ":443");
  }
  EXPECT_EQ(endpoint_text(acl::Address::v4(0xffffffff), 65535), "255.255.255.255:65535");
  EXPECT_EQ(endpoint_text(acl::Address::v4(0), 0), "0.0.0.0:0");
}

TEST(EndpointText, PutsBracketsAroundIPv6) {
  EXPECT_EQ(endpoint_text(*acl::Address::parse("2001:db8::1"), 80), "[2001:db8::1]:80");
}

}  // namespace
}  // namespace stile::net
