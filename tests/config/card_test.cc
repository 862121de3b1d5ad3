// Agent cards.
#include "config/card.h"

#include <gtest/gtest.h>

namespace stile::config {
namespace {

constexpr UnixMicros since = 1'794'819'600'000'000;  // 2026-11-16T09:00:00Z
constexpr UnixMicros second = 1'000'000;

Checked<AgentSettings> parse(std::string_view text) {
  return parse_card(text, {"c.json", since, "/cards"});
}

TEST(Card, IsWhatLaunchersWrite) {
  const auto agent = parse(R"({"agent_id": "alpha-001", "workspace": "/mnt/agents/alpha-001",
    "source": ["10.200.0.2"], "allowed_hosts": ["api.anthropic.com", "api.openai.com"],
    "denied_hosts": ["x.example"], "ttl_seconds": 3600, "created": "2026-11-16T10:00:00+01:00",
    "api_provider": {"a": [1, null]}, "api_key_file": 7, "proxy": null, "resource_limits": {},
    "environment": {"A": "b"}, "instance": "7f3a"})");
  ASSERT_TRUE(agent) << agent.error().text();
  EXPECT_EQ(agent->id, "alpha-001");
  EXPECT_EQ(agent->instance, "7f3a");
  EXPECT_EQ(agent->source.at(0).text(), "10.200.0.2/32");
  EXPECT_EQ(agent->allow.at(1).pattern.text(), "api.openai.com");
  EXPECT_EQ(agent->allow.at(1).line, 2U);
  EXPECT_EQ(agent->deny.at(0).pattern.text(), "x.example");
  EXPECT_EQ(agent->expires, since + 3600 * second);
  EXPECT_EQ(agent->place, (Place{"c.json", 1, 1}));
}

TEST(Card, TakesEveryKeyOfAnAgentUnderItsTomlName) {
  const auto agent = parse(R"({"id": "a", "source": ["10.0.0.0/24"], "listen": ["127.0.0.1:3129"],
    "allow": [".a.example"], "allow_files": ["list.txt"], "deny": ["b.example"],
    "deny_files": ["/etc/deny"], "allow_ip": ["::2"], "forbid_addresses": ["8.0.0.0/8"],
    "expires": "2027-01-01T00:00:00Z", "bytes_up": 1024, "bytes_down": "1KiB", "mode": "observe",
    "ports": [443], "http_ports": [80], "sni": "off", "ech": "allow", "unlisted": "ask",
    "private_exceptions": ["10.1.0.0/16", {"prefix": "127.0.0.1", "hosts": ["c.example"]}],
    "strip_request_headers": ["Cookie"], "contact": "me", "connections_per_agent": 2,
    "requests_per_second": 3})");
  ASSERT_TRUE(agent) << agent.error().text();
  EXPECT_EQ(agent->allow_files.at(0), "/cards/list.txt");
  EXPECT_EQ(agent->bytes_up, 1024U);
  EXPECT_EQ(agent->bytes_down, 1024U);
  EXPECT_EQ(agent->mode, acl::Mode::observe);
  EXPECT_EQ(agent->private_exceptions->at(1).hosts.size(), 1U);
  EXPECT_EQ(agent->connections_per_agent, 2U);
  EXPECT_EQ(agent->expires, 1'798'761'600'000'000);
}

struct Life {
  const char* keys;
  std::optional<UnixMicros> expires;
};

TEST(Card, LivesFromItsCreationElseFromItsFileAndNeverLongerThanItSays) {
  const Life lives[] = {
      {"", std::nullopt},
      {R"(, "ttl_seconds": 0)", std::nullopt},
      {R"(, "ttl_seconds": 10)", since + 10 * second},
      {R"(, "ttl_seconds": 10, "created": "2026-11-16T08:00:00Z")", since - 3590 * second},
      {R"(, "created": "2026-11-16T08:00:00Z", "ttl_seconds": 10)", since - 3590 * second},
      {R"(, "created": "2026-11-16T08:00:00Z")", std::nullopt},
      {R"(, "expires": "2026-11-16T09:00:05Z", "ttl_seconds": 10)", since + 5 * second},
      {R"(, "expires": "2026-11-16T09:00:15Z", "ttl_seconds": 10)", since + 10 * second},
      {R"(, "expires": "2026-11-16T09:00:15Z", "ttl_seconds": 0)", since + 15 * second},
  };
  for (const auto& [keys, expires] : lives) {
    const auto agent = parse(std::string{R"({"id": "a")"} + keys + '}');
    ASSERT_TRUE(agent) << keys << agent.error().text();
    EXPECT_EQ(agent->expires, expires) << keys;
  }
}

struct CardCase {
  const char* text;
  const char* problems;
};

TEST(Card, SaysExactlyWhatIsWrong) {
  const CardCase cases[] = {
      {"[]", "c.json:1:1: a card is one JSON object\n"},
      {"{}", "c.json:1:1: agent_id is missing\n"},
      {R"({"agent_id": "a", "id": "a"})",
       "c.json:1:25: id: is here also as agent_id; leave one out\n"},
      {R"({"id": "a", "allow": [], "allowed_hosts": []})",
       "c.json:1:43: allowed_hosts: is here also as allow; leave one out\n"},
      {R"({"id": "a", "deny": [], "denied_hosts": []})",
       "c.json:1:41: denied_hosts: is here also as deny; leave one out\n"},
      {R"({"id": "a", "id": "b"})", "c.json:1:13: id: appears twice; the first one is in line 1\n"},
      {R"({"id": "a", "ttl": 1})", "c.json:1:13: ttl: unknown key\n"},
      {R"({"id": "a", "allowed_host": []})",
       "c.json:1:13: allowed_host: unknown key; did you mean allowed_hosts?\n"},
      {R"({"id": "a", "ttl_seconds": -1})",
       "c.json:1:28: ttl_seconds: -1 is out of range; from 0 to 3162240000\n"},
      {R"({"id": "a", "ttl_seconds": 9223372036854775807})",
       "c.json:1:28: ttl_seconds: 9223372036854775807 is out of range; from 0 to 3162240000\n"},
      {R"({"id": "a", "ttl_seconds": "1h"})",
       "c.json:1:28: ttl_seconds: expected an integer, found a string\n"},
      {R"({"id": "a", "created": "today"})",
       "c.json:1:24: created: 'today' is not a date and time; like 2026-12-31T00:00:00Z\n"},
      {R"({"id": null})", "c.json:1:8: id: expected a string, found null\n"},
      {"{\"id\": \"a\",\n \"source\": [\"10.0.0.0/8\", 7],\n \"mode\": \"on\"}",
       "c.json:2:27: source: expected a string, found an integer\n"
       "c.json:3:10: mode: 'on' is not \"enforce\", \"observe\" or \"offline\"\n"},
      {R"({"agent_id": "../x"})",
       "c.json:1:14: agent_id: '../x' is not an id; 1 to 64 of a-z, 0-9 and -, not beginning or "
       "ending with -\n"},
  };
  for (const auto& [text, problems] : cases) {
    const auto agent = parse(text);
    ASSERT_FALSE(agent) << text;
    EXPECT_EQ(agent.error().text(), problems);
  }
}

TEST(Card, IsAtMost64KiB) {
  const std::string head = R"({"id": "a", "workspace": ")";
  EXPECT_TRUE(parse(head + std::string(max_card_bytes - head.size() - 2, 'x') + "\"}"));
  const auto agent = parse(head + std::string(max_card_bytes - head.size() - 1, 'x') + "\"}");
  ASSERT_FALSE(agent);
  EXPECT_EQ(agent.error().text(), "c.json: larger than 64 KiB\n");
}

TEST(Card, NamesAbsolutePathsWhenItCameThroughTheSocket) {
  const CardOrigin socket{"put-agent", since, std::nullopt};
  const auto agent = parse_card(R"({"id": "a", "allow_files": ["list.txt"]})", socket);
  ASSERT_FALSE(agent);
  EXPECT_EQ(agent.error().text(), "put-agent:1:29: allow_files: 'list.txt' must begin with /\n");
  EXPECT_TRUE(parse_card(R"({"id": "a", "allow_files": ["/list.txt"]})", socket));
}

TEST(CardId, IsToldEvenOfACardThatIsWrong) {
  EXPECT_EQ(card_id(R"({"agent_id": "a", "foo": 1})"), "a");
  EXPECT_EQ(card_id(R"({"foo": 1, "id": "A\u0000!"})"), "A\\x00!");
  EXPECT_EQ(card_id("{"), "");
  EXPECT_EQ(card_id("[]"), "");
  EXPECT_EQ(card_id(R"({"id": 1})"), "");
}

}  // namespace
}  // namespace stile::config
