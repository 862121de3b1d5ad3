// resolv.conf: what is understood is taken, the rest is passed over.
#include "proxy/dns/resolv_conf.h"

#include <gtest/gtest.h>

namespace stile::dns {
namespace {

TEST(ResolvConf, TakesAddressesOfServersAndNothingElse) {
  std::string text;
  for (const auto& server : parse_resolv_conf(
           "# nameserver 192.0.2.9\nsearch a.test\n nameserver\t192.0.2.1 # first\n"
           "nameserver 2001:db8::1\nnameserver fe80::1%eth0\nnameserver\nnameserver name.test\n"
           "options nameserver 192.0.2.8\nNAMESERVER 192.0.2.7\nnameserver 192.0.2.2")) {
    text += server.text() + " ";
  }
  EXPECT_EQ(text, "192.0.2.1 2001:db8::1 192.0.2.2 ");
}

}  // namespace
}  // namespace stile::dns
