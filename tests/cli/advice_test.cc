// advice: what an operator does next.
#include "cli/advice.h"

#include <gtest/gtest.h>

#include "acl/decision.h"
#include "acl/token_request.h"

namespace stile::cli {
namespace {

constexpr auto tunnel = acl::Scheme::tunnel;

Refused refused(std::string_view reason, const std::string& host = "a.example",
                std::uint16_t port = 8443) {
  return {reason, "alpha", tunnel, host, port, {}, {}};
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

TEST(Advice, NamesTheSettingOrTheCommandThatHelps) {
  for (const auto& [reason, said] : std::vector<std::pair<const char*, const char*>>{
           {"audit-unavailable", "stile doctor"},
           {"draining", "start it again"},
           {"overloaded", "`connections` in [limits]"},
           {"origin-unreachable", "from the proxy's host"},
           {"origin-timeout", "from the proxy's host"},
           {"origin-bad-response", "from the proxy's host"},
           {"header-timeout", "header_timeout_ms"},
           {"header-too-large", "header_bytes"},
           {"revoked", "stile explain alpha "},
           {"method-not-allowed", "add the method to a `request` entry"},
           {"path-not-allowed", "add the path to a `request` entry"},
           {"client-tls-failed", "`stile ca`"},
           {"rate-limited", "in_flight_per_agent"},
           {"idle-timeout", "idle_timeout_ms"},
           {"internal-error", "journalctl -u stiled"}}) {
    const auto text = advice_text(advice_after(refused(reason), {}));
    EXPECT_NE(text.find(said), std::string::npos) << reason << ": " << text;
  }
}

TEST(Advice, NamesTheAddressThatBelongsToNoAgent) {
  auto request = refused("unknown-agent");
  EXPECT_NE(advice_after(request, {}).note.find("the source address belongs"), std::string::npos);
  request.source = "10.9.8.7";
  EXPECT_NE(advice_after(request, {}).note.find("10.9.8.7 belongs to no agent"), std::string::npos);
}

TEST(Advice, OffersAllowIpOnlyForASpellingThatItCovers) {
  for (const char* host : {"192.0.2.7", "[2001:db8::1]"}) {
    const auto note = advice_after(refused("ip-literal", host), {}).note;
    EXPECT_NE(note.find("add the address to allow_ip"), std::string::npos) << note;
  }
  for (const char* host : {"2130706433", "0x7f.1", "[fe80::1%25eth0]"}) {
    const auto note = advice_after(refused("ip-literal", host), {}).note;
    EXPECT_EQ(note.find("add the address"), std::string::npos) << note;
  }
}

TEST(Advice, DoesNotOfferAPathForABatchWhereTokensAreLimited) {
  for (const auto& [reason, fault] : std::vector<std::pair<const char*, std::string_view>>{
           {"path-not-allowed", acl::batch_fault}, {"upgrade-not-allowed", acl::websocket_fault}}) {
    auto request = refused(reason);
    request.detail = std::string{fault};
    const auto text = advice_text(advice_after(request, {}));
    EXPECT_NE(text.find("remove `tokens` from the `budget` entry"), std::string::npos) << text;
    EXPECT_EQ(text.find("`request` entry"), std::string::npos) << text;
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

TEST(Advice, DoesNotAllowLocalhost) {
  const auto advice = advice_after(refused("host-not-allowed", "LocalHost.", 443), {});
  EXPECT_EQ(advice.command, "");
  EXPECT_NE(advice.note.find("private_exceptions"), std::string::npos) << advice.note;
}

TEST(Advice, NamesThePortThatIsNotListed) {
  EXPECT_EQ(advice_after(refused("port-not-allowed", "a.example", 443), {}).command,
            "stile allow alpha a.example:443 --for 10m");
}

TEST(Advice, LooksForADenyRuleBeforeItSuggestsAGrant) {
  Situation situation;
  situation.deny = {".a.example", ".b.example"};
  situation.revoked = {".b.example"};
  const auto denied = advice_after(refused("port-not-allowed", "x.a.example"), situation);
  EXPECT_EQ(denied.command, "");
  EXPECT_NE(denied.note.find("deny rule"), std::string::npos) << denied.note;
  const auto revoked = advice_after(refused("port-not-allowed", "x.b.example"), situation);
  EXPECT_EQ(revoked.command, "stile allow alpha .b.example");
}

TEST(Advice, OfAnUnderscoreIsARuleThatNamesIt) {
  EXPECT_EQ(advice_after(refused("bad-request", "a_b.example", 443), {}).command,
            "stile allow alpha a_b.example --for 10m");
  auto request = refused("bad-request", "a..example", 443);
  request.detail = "the request has no port";
  EXPECT_EQ(advice_after(request, {}).command, "");
  EXPECT_EQ(advice_after(request, {}).note,
            "the request is malformed: the request has no port; no rule can allow it");
}

TEST(Advice, ForAnAgentThatIsGoneIsNotACommand) {
  Situation situation;
  situation.is_gone = true;
  EXPECT_EQ(advice_after(refused("host-not-allowed"), situation).command, "");
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
  situation.fleet_is_offline = true;
  EXPECT_EQ(advice_after(refused("offline"), situation).command, "");
  EXPECT_NE(advice_after(refused("offline"), situation).note.find("stile fleet online"),
            std::string::npos);
  situation.fleet_is_offline = false;
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
