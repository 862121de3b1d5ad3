// card_text and binding: whose card it is, which address it asks for, what the daemon will read.
#include "netns/card_text.h"

#include <gtest/gtest.h>

#include "base/unix_time.h"
#include "config/card.h"
#include "netns/binding.h"

namespace stile::netns {
namespace {

constexpr UnixMicros now = 1'794'816'000'000'000;  // 2026-11-16T08:00:00Z

const Agent alpha{"alpha", *acl::Address::parse("10.200.0.2"), "0123456789abcdef"};

CardRequest from_text(std::string text) { return {"card.json", std::move(text), {}, {}}; }

config::AgentSettings bound(const CardRequest& request) {
  auto card = read_template(request, "alpha");
  EXPECT_TRUE(card) << card.error().text();
  const auto text = bound_card(*card, request, alpha, now);
  EXPECT_TRUE(text) << text.error().text();
  const auto read = config::parse_card(*text, {"x", 0, {}});
  EXPECT_TRUE(read) << *text;
  return *read;
}

TEST(NetnsCard, WithoutAnyPolicyAllowsNothing) {
  const auto card = bound({});
  EXPECT_EQ(card.id, "alpha");
  EXPECT_EQ(card.instance, alpha.instance);
  EXPECT_EQ(card.source, (std::vector<acl::Prefix>{{alpha.address, 32}}));
  EXPECT_TRUE(card.allow.empty());
  EXPECT_FALSE(card.expires);
}

TEST(NetnsCard, CarriesThePatternsOfTheCommandLine) {
  const auto card = bound({{}, {}, {".example.com", "api.github.com:8443"}, {}});
  ASSERT_EQ(card.allow.size(), 2U);
  EXPECT_EQ(card.allow[1].pattern.text(), "api.github.com:8443");
}

TEST(NetnsCard, KeepsEveryKeyOfTheOperatorsCard) {
  const auto card = bound(from_text(
      R"({"agent_id": "alpha", "workspace": "/mnt/a", "allowed_hosts": ["a.example"],
          "denied_hosts": [".b.example"], "bytes_up": "50MiB", "mode": "observe", "ports": [443, 8443],
          "resource_limits": {"cpu": 1.5, "x": [true, null, -3]}, "contact": "\"ops\" \\ ä"})"));
  EXPECT_EQ(card.allow.size(), 1U);
  EXPECT_EQ(card.deny.size(), 1U);
  EXPECT_EQ(card.bytes_up, 50ULL << 20U);
  EXPECT_EQ(card.mode, acl::Mode::observe);
  EXPECT_EQ(card.ports, (std::vector<std::uint16_t>{443, 8443}));
  EXPECT_EQ(card.contact, "\"ops\" \\ ä");
}

TEST(NetnsCard, BeginsItsLifeNowUnlessItSaysWhen) {
  const auto expiry = [](const CardRequest& request) {
    const auto card = bound(request);
    return card.expires ? time_text(*card.expires) : "never";
  };
  using std::chrono::seconds;
  EXPECT_EQ(expiry({{}, {}, {}, seconds{60}}), "2026-11-16T08:01:00Z");
  EXPECT_EQ(expiry(from_text(R"({"ttl_seconds": 60})")), "2026-11-16T08:01:00Z");
  EXPECT_EQ(expiry(from_text(R"({"ttl_seconds": 60, "created": "2026-11-16T07:30:00Z"})")),
            "2026-11-16T07:31:00Z");
  EXPECT_EQ(
      expiry({"c", R"({"ttl_seconds": 9, "created": "2020-01-01T00:00:00Z"})", {}, seconds{60}}),
      "2026-11-16T08:01:00Z");
  EXPECT_EQ(expiry({"c", R"({"expires": "2026-11-16T08:00:30Z"})", {}, seconds{60}}),
            "2026-11-16T08:00:30Z");
}

TEST(NetnsCard, ReplacesInstanceAndSourceThatSomebodyPutThere) {
  const auto card =
      bound(from_text(R"({"id": "alpha", "instance": "mine", "source": ["10.200.0.9"]})"));
  EXPECT_EQ(card.instance, alpha.instance);
  EXPECT_EQ(card.source[0].address, alpha.address);
}

TEST(NetnsCard, RefusesWhatTheDaemonWouldRefuse) {
  const std::string cases[] = {
      R"({"agent_id": "beta"})",                  // somebody else's
      R"({"id": "alpha", "agent_id": "alpha"})",  // both spellings
      R"({"allowed_hosts": ["a b"]})",            // no pattern
      R"({"allow_files": ["list.txt"]})",         // a path that would start somewhere else
      R"({"colour": "red"})",                     // no such key
      R"({"agent_id": 7})",
      R"([])",
      R"({)",
      R"({"contact": ")" + std::string(70'000, 'x') + "\"}",  // too large
  };
  for (const auto& text : cases) {
    const auto request = from_text(text);
    const auto card = read_template(request, "alpha");
    EXPECT_FALSE(card && bound_card(*card, request, alpha, now)) << text.substr(0, 80);
  }
}

TEST(NetnsCard, IsOneLine) {
  const auto request = from_text("{\n\"workspace\": \"a\\nb\"\n}");
  const auto text = bound_card(*read_template(request, "alpha"), request, alpha, now);
  ASSERT_TRUE(text);
  EXPECT_EQ(text->find('\n'), std::string::npos);
}

const config::NetnsSettings settings;
const std::vector<KnownAgent> known{
    {"written", {*acl::Prefix::parse("10.200.0.7")}, "/etc/stile/stile.toml"},
    {"two", {*acl::Prefix::parse("10.200.0.8"), *acl::Prefix::parse("10.200.0.9")}, "/etc/x.json"},
    {"wide", {*acl::Prefix::parse("10.200.0.0/24")}, "/etc/x.json"},
    {"elsewhere", {*acl::Prefix::parse("192.0.2.7")}, "/etc/x.json"},
    {"nowhere", {}, "/etc/x.json"},
};

TEST(NetnsBinding, TakesTheAddressFromTheEntryThatTheDaemonKnows) {
  const auto binding = bind_agent(settings, known, "written", {});
  ASSERT_TRUE(binding);
  EXPECT_EQ(binding->bound_by, "/etc/stile/stile.toml");
  EXPECT_EQ(binding->address, acl::Address::parse("10.200.0.7"));
}

TEST(NetnsBinding, TakesTheKnownCardByItsFile) {
  const CardRequest request{"/etc/stile/stile.toml", "{}", {}, {}};
  EXPECT_TRUE(bind_agent(settings, known, "written", request));
}

TEST(NetnsBinding, RefusesAnotherPolicyForAKnownAgent) {
  using std::chrono::seconds;
  EXPECT_FALSE(bind_agent(settings, known, "written", {{}, {}, {".example.com"}, {}}));
  EXPECT_FALSE(bind_agent(settings, known, "written", {{}, {}, {}, seconds{60}}));
  EXPECT_FALSE(bind_agent(settings, known, "written", from_text("{}")));
}

TEST(NetnsBinding, RefusesAKnownAgentWithoutExactlyOneAddressOfTheSubnet) {
  for (const auto* id : {"two", "wide", "elsewhere", "nowhere"}) {
    EXPECT_FALSE(bind_agent(settings, known, id, {})) << id;
  }
}

TEST(NetnsBinding, LeavesTheAddressOpenUnlessTheCardAsksForOne) {
  EXPECT_FALSE(bind_agent(settings, known, "alpha", {})->address);
  EXPECT_FALSE(bind_agent(settings, known, "alpha", from_text(R"({"source": []})"))->address);
  EXPECT_EQ(
      bind_agent(settings, known, "alpha", from_text(R"({"source": ["10.200.1.5"]})"))->address,
      acl::Address::parse("10.200.1.5"));
}

TEST(NetnsBinding, RefusesAddressesThatNoAgentCanHave) {
  for (const auto* source :
       {R"("10.200.0.1")", R"("10.200.0.0")", R"("10.200.255.255")", R"("192.0.2.1")",
        R"("10.200.0.0/24")", R"("::1")", "7", R"("10.200.0.5", "10.200.0.6")"}) {
    const auto request = from_text(R"({"source": [)" + std::string{source} + "]}");
    EXPECT_FALSE(bind_agent(settings, known, "alpha", request)) << source;
  }
}

}  // namespace
}  // namespace stile::netns
