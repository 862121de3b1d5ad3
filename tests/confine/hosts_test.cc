// hosts_inside: which lines of /etc/hosts a command sees.
#include "confine/hosts.h"

#include <gtest/gtest.h>

namespace stile::confine {
namespace {

const std::string always = hosts_inside("");

TEST(HostsInside, AlwaysHasLocalhost) {
  EXPECT_NE(always.find("\n127.0.0.1 localhost\n"), std::string::npos);
}

TEST(HostsInside, KeepsLoopbackLinesAndNoOthers) {
  struct Case {
    const char* line;
    const char* kept;
  };
  const Case cases[] = {
      {"127.0.1.1 laptop laptop.lan", "127.0.1.1 laptop laptop.lan\n"},
      {"127.0.0.1\tapp.local # a dev server", "127.0.0.1\tapp.local \n"},
      {"  ::1 ip6-loopback", "::1 ip6-loopback\n"},
      {"::ffff:127.0.0.1 mapped", ""},
      {"10.0.0.5 db.internal", ""},  // the name would lead to an address that the fence refuses
      {"fe00::0 ip6-localnet", ""},
      {"# 127.0.0.1 comment", ""},
      {"127.0.0.1.evil name", ""},
      {"", ""},
      {"nonsense", ""},
  };
  for (const auto& [line, kept] : cases) {
    EXPECT_EQ(hosts_inside(line), always + kept) << line;
    EXPECT_EQ(hosts_inside(std::string{line} + "\n\n"), always + kept) << line;
  }
}

}  // namespace
}  // namespace stile::confine
