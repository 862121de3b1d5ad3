// advice: what an operator does next.
#include "cli/advice.h"

#include <gtest/gtest.h>

#include "acl/decision.h"

namespace stile::cli {
namespace {

constexpr auto tunnel = acl::Scheme::tunnel;
constexpr auto http = acl::Scheme::http;

Refused refused(std::string_view reason, const std::string& host = "a.example",
                std::uint16_t port = 8443) {
  return {reason, "alpha", tunnel, host, port, {}};
}

TEST(Advice, NamesThePatternThatCoversJustTheRequest) {
  struct Case {
    acl::Scheme scheme;
    std::uint16_t port;
    const char* pattern;
  };
  for (const auto& [scheme, port, pattern] :
       {Case{tunnel, 443, "a.example"}, Case{tunnel, 8443, "a.example:8443"},
        Case{tunnel, 80, "a.example:80"}, Case{http, 80, "http://a.example"},
        Case{http, 8080, "http://a.example:8080"}}) {
    EXPECT_EQ(pattern_for(scheme, "a.example", port), pattern);
  }
}

TEST(Advice, FitsTheReason) {
  const auto command = [](const char* reason) { return advice_after(refused(reason), {}).command; };
  EXPECT_EQ(command("host-not-allowed"), "stile allow alpha a.example:8443 --for 10m");
  EXPECT_EQ(command("port-not-allowed"), "stile allow alpha a.example:8443 --for 10m");
  EXPECT_EQ(command("offline"), "stile mode enforce alpha");
  EXPECT_EQ(command("budget-exhausted"), "stile budget reset alpha");
  EXPECT_EQ(command("dns-failure"), "");
}

TEST(Advice, HasAWordForEveryReason) {
  for (std::size_t i = 1; i < acl::reason_count; ++i) {
    const auto reason = text(static_cast<acl::Reason>(i));
    EXPECT_NE(advice_text(advice_after(refused(reason), {})), "") << reason;
  }
}

TEST(Advice, OfProtocolsWithoutTlsIsATunnelWithoutIt) {
  const auto command = [](const char* reason, std::uint16_t port) {
    return advice_after(refused(reason, "github.com", port), {}).command;
  };
  EXPECT_EQ(command("port-not-allowed", 22), "stile allow alpha tcp://github.com:22 --for 10m");
  EXPECT_EQ(command("host-not-allowed", 22), "stile allow alpha tcp://github.com:22 --for 10m");
  EXPECT_EQ(command("not-tls", 9000), "stile allow alpha tcp://github.com:9000 --for 10m");
  EXPECT_EQ(command("client-hello-timeout", 9000),
            "stile allow alpha tcp://github.com:9000 --for 10m");
}

TEST(Advice, AfterRevokingIsToAllowWhatWasRevoked) {
  auto request = refused("host-denied", "a.example", 443);
  request.rule = ".example (revoked through the control socket)";
  EXPECT_EQ(advice_after(request, {}).command, "stile allow alpha .example");
  request.rule = "~^a'.*$ (revoked through the control socket)";
  EXPECT_EQ(advice_after(request, {}).command, "stile allow alpha '~^a'\\''.*$'");
  request.rule = "a.example (/etc/stile/stile.toml:7)";
  EXPECT_EQ(advice_after(request, {}).command, "");
  EXPECT_NE(advice_after(request, {}).note.find("/etc/stile/stile.toml:7"), std::string::npos);
}

TEST(Advice, AfterTheSwitchForAllNamesThatSwitch) {
  Situation situation;
  situation.everybody_is_offline = true;
  EXPECT_EQ(advice_after(refused("offline"), situation).command, "stile mode enforce");
}

TEST(Advice, OfAnExpiredAgentDependsOnWhereItComesFrom) {
  Situation situation;
  situation.entry = "/run/stile/agents.d/alpha.json:1";
  situation.allow = {"a.example", "~^b[0-9]$"};
  situation.has_only_allow_rules = true;
  EXPECT_EQ(advice_after(refused("agent-expired"), situation).command,
            "stile-netns create alpha --ttl 1h --allow a.example --allow '~^b[0-9]$'");
  situation.entry = "put-agent";
  EXPECT_NE(advice_after(refused("agent-expired"), situation).note.find("stile put-agent FILE"),
            std::string::npos);
  situation.entry = "/etc/stile/stile.toml:9";
  EXPECT_NE(advice_after(refused("agent-expired"), situation).note.find("stile.toml:9"),
            std::string::npos);
}

TEST(Advice, WarnsOfALookAlikeAndDoesNotSuggestIt) {
  Situation situation;
  situation.allow = {".github.com"};
  const auto advice = advice_after(refused("host-not-allowed", "githud.com", 443), situation);
  EXPECT_EQ(advice.command, "");
  EXPECT_NE(advice.note.find("looks like github.com"), std::string::npos) << advice.note;
}

TEST(Advice, ForARunThatIsOverIsAFlag) {
  Situation situation;
  situation.is_stile_run = true;
  const auto advice = advice_after(refused("host-not-allowed"), situation);
  EXPECT_EQ(advice.command, "");
  EXPECT_EQ(advice.note, "add to stile run: --allow a.example:8443");
}

// The agent chooses the host, and the operator pastes.
TEST(Advice, NeverPutsABytesOfAShellIntoACommand) {
  for (const char* host : {"a.example;reboot", "$(reboot).example", "a.example\n", "`x`.example",
                           "a b.example", "a.example'", "--all", "~.*", "*"}) {
    for (const char* reason : {"host-not-allowed", "not-tls", "ech-refused"}) {
      const auto text = advice_text(advice_after(refused(reason, host, 443), {}));
      EXPECT_EQ(text.find(host), std::string::npos) << text;
      EXPECT_EQ(text.find("next:"), std::string::npos) << text;
    }
  }
}

}  // namespace
}  // namespace stile::cli
