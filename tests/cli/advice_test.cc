// advice: the command that an operator types next.
#include "cli/advice.h"

#include <gtest/gtest.h>

namespace stile::cli {
namespace {

TEST(Advice, NamesThePatternThatCoversJustTheRequest) {
  struct Case {
    acl::Scheme scheme;
    std::uint16_t port;
    const char* pattern;
  };
  constexpr auto tunnel = acl::Scheme::tunnel;
  constexpr auto http = acl::Scheme::http;
  for (const auto& [scheme, port, pattern] :
       {Case{tunnel, 443, "a.example"}, Case{tunnel, 8443, "a.example:8443"},
        Case{tunnel, 80, "a.example:80"}, Case{http, 80, "http://a.example"},
        Case{http, 8080, "http://a.example:8080"}}) {
    EXPECT_EQ(pattern_for(scheme, "a.example", port), pattern);
  }
}

TEST(Advice, FitsTheReason) {
  const auto advice = [](const char* reason) {
    return advice_after({reason, "alpha", acl::Scheme::tunnel, "a.example", 8443});
  };
  EXPECT_EQ(advice("host-not-allowed"), "stile allow alpha a.example:8443 --for 10m");
  EXPECT_EQ(advice("port-not-allowed"), "stile allow alpha a.example:8443 --for 10m");
  EXPECT_EQ(advice("offline"), "stile mode enforce alpha");
  EXPECT_EQ(advice("budget-exhausted"), "stile budget reset alpha");
  EXPECT_EQ(advice("dns-failure"), "");
}

// The agent chooses the host, and the operator pastes.
TEST(Advice, NeverPutsABytesOfAShellIntoACommand) {
  for (const char* host : {"a.example;reboot", "$(reboot).example", "a.example\n", "`x`.example",
                           "a b.example", "a.example'", "--all"}) {
    const auto advice = advice_after({"host-not-allowed", "alpha", acl::Scheme::tunnel, host, 443});
    EXPECT_EQ(advice, "") << host;
    EXPECT_EQ(advice_after({"not-tls", "alpha", acl::Scheme::tunnel, host, 22}), "") << host;
  }
}

}  // namespace
}  // namespace stile::cli
