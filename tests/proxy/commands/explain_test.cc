// explain decides as the live path does, for random policies and requests.
#include "proxy/commands/explain.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/control/live.h"

namespace stile::commands {
namespace {

constexpr const char* words[] = {"a", "b", "api", "x-y", "a_b", "1", "0x7f", "test", "", "-a"};
constexpr const char* forms[] = {"", ".", "*."};

class Random {
 public:
  std::size_t below(std::size_t bound) { return engine_() % bound; }
  std::string name() {
    std::string text;
    for (std::size_t i = 1 + below(3); i > 0; --i) {
      text += std::string{words[below(std::size(words))]} + (i > 1 ? "." : ".test");
    }
    return text;
  }
  std::string config() {
    constexpr const char* modes[] = {"enforce", "observe", "offline"};
    std::string text = "[[agent]]\nid = \"a\"\nsource = [\"10.0.0.1\"]\n";
    text += "allow = [" + list() + "]\ndeny = [" + list() + "]\n";
    text += "ports = [443, 8443]\nhttp_ports = [80]\n";
    text += std::string{"mode = \""} + modes[below(8) < 6 ? 0 : below(3)] + "\"\n";
    return text;
  }

 private:
  std::string list() {
    std::string text;
    for (std::size_t i = below(5); i > 0; --i) {
      const std::string pattern =
          forms[below(3)] + std::string{words[below(4)]} + ".test" + (below(4) == 0 ? ":22" : "");
      text += (text.empty() ? "\"" : ", \"") + pattern + "\"";
    }
    return text;
  }
  std::mt19937 engine_{20261116};
};

TEST(Explain, SaysWhatTheDecisionIs) {
  Random random;
  constexpr const char* ports[] = {"443", "8443", "80", "22", "0", "99999", "x"};
  std::size_t refused = 0;
  for (int round = 0; round < 200; ++round) {
    const auto live = control::live_of(random.config());
    for (int i = 0; i < 20; ++i) {
      const std::string host = random.name();
      const std::string port = ports[random.below(std::size(ports))];
      const bool is_tunnel = random.below(3) > 0;
      control::ControlRequest request;
      request.host = host;
      request.port = port;
      request.method = is_tunnel ? "CONNECT" : "GET";
      if (random.below(5) == 0) {
        request.source = acl::Address::parse(random.below(2) == 0 ? "10.0.0.1" : "10.0.0.9");
      } else {
        request.agent = "a";
      }
      const auto told = explain(*live.snapshot(), request, 1);
      ASSERT_TRUE(told) << host;

      acl::Query query;
      const auto* agent = request.source ? live.snapshot()->by_source(*request.source)
                                         : live.snapshot()->by_id("a");
      query.agent = agent == nullptr ? nullptr : agent->get();
      query.scheme = is_tunnel ? acl::Scheme::tunnel : acl::Scheme::http;
      const std::string authority = host + ":" + port;
      query.authority = acl::split_authority(authority);
      query.now = 1;
      const auto decision = acl::decide(query);
      EXPECT_EQ(told->decision.verdict, decision.verdict) << authority;
      EXPECT_EQ(told->decision.reason, decision.reason) << authority;
      if (!decision.passes()) {
        ++refused;
        EXPECT_EQ(told->steps.back().result, acl::text(decision.reason));
      }
    }
  }
  EXPECT_GT(refused, 1000U);
}

TEST(Explain, TakesUrlsAsClientsMakeRequestsOfThem) {
  const auto live = control::live_of(
      "[[agent]]\nid = \"a\"\nsource = [\"10.0.0.1\"]\nallow = [\"x.test\"]\nhttp_ports = [80]\n");
  struct Row {
    const char* url;
    const char* reason;
    std::uint16_t port;
  };
  constexpr Row rows[] = {
      {"https://x.test/path?q", "none", 443},
      {"HTTPS://X.TEST", "none", 443},
      {"x.test", "none", 443},
      {"http://x.test/", "none", 80},
      {"http://x.test:8080/", "port-not-allowed", 8080},
      {"https://x.test:8443/", "port-not-allowed", 8443},
      {"http://user@x.test/", "bad-request", 0},
      {"http://x.test\\@y.test/", "bad-request", 0},
      {"https://127.0.0.1/", "ip-literal", 0},
      {"https://[::1]/", "ip-literal", 0},
  };
  for (const auto& row : rows) {
    control::ControlRequest request;
    request.agent = "a";
    request.url = row.url;
    const auto told = explain(*live.snapshot(), request, 1);
    ASSERT_TRUE(told) << row.url;
    EXPECT_EQ(acl::text(told->decision.reason), row.reason) << row.url;
    if (row.port != 0) {
      EXPECT_EQ(told->decision.port, row.port) << row.url;
    }
  }
}

}  // namespace
}  // namespace stile::commands
