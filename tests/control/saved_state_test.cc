// The state as text: what is written is read again, and nothing else is.
#include "control/saved_state.h"

#include <gtest/gtest.h>

#include "tests/control/live.h"

namespace stile::control {
namespace {

SavedState example() {
  SavedState state;
  state.mode = acl::Mode::offline;
  state.audit_seq = 42;
  state.audit_hash = std::string(64, 'a');
  state.cards.push_back({R"({"agent_id":"put","contact":"é \"quoted\""})", 17, true});
  SavedAgent agent;
  agent.id = "alpha";
  agent.identity = {"one", {"10.0.0.1/32", "fd00::/64"}, "digest"};
  agent.overlay.mode = acl::Mode::observe;
  agent.overlay.removed = "other";
  agent.overlay.denied = patterns({"no.test", "~^x$"});
  agent.used_up = 1000;
  agent.used_down = 2000;
  agent.hosts.push_back({"api.test", 3, 4000, {4'000'000'000, 2}});
  agent.hosts.push_back({"b.test", 1, 0, {}});
  GrantState grant;
  grant.id = "7f3a";
  grant.hosts = patterns({".b.test", "http://c.test"});
  grant.created = 5;
  grant.expires = 500;
  grant.max_requests = 10;
  grant.bytes_up = 5000;
  grant.reason = "because";
  grant.actor = "somebody";
  grant.made.only = acl::GrantedRequest{"POST", "/x"};
  EXPECT_TRUE(make_grant(grant));
  start_count(grant.made.lease->requests, grant.max_requests, 3);
  start_count(grant.made.lease->bytes_up, grant.bytes_up, 700);
  agent.overlay.grants.push_back(grant);
  state.agents.push_back(agent);
  SavedAsk saved;
  saved.identity = {"one", {"10.0.0.1/32"}, {}};
  saved.ask.id = "0123456789ab";
  saved.ask.agent = "alpha";
  saved.ask.reason = acl::Reason::method_not_allowed;
  saved.ask.scheme = "https";
  saved.ask.host = "a.test";
  saved.ask.port = 8443;
  saved.ask.method = "POST";
  saved.ask.path = "/**";
  saved.ask.agent_reason = "please \"now\"";
  saved.ask.looks_like = "b.test";
  saved.ask.count = 3;
  saved.ask.first_seen = 5;
  saved.ask.expires = 500;
  saved.ask.state = Ask::State::refused;
  state.asks.push_back(saved);
  return state;
}

TEST(SavedState, IsReadAsItWasWritten) {
  const std::string text = state_text(example());
  const auto read = parse_state(text, "state.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(state_text(*read), text);
  EXPECT_EQ(read->cards[0].text, example().cards[0].text);
  const auto& grant = read->agents[0].overlay.grants[0];
  EXPECT_EQ(grant.made.lease->requests.left(), 7);
  EXPECT_EQ(grant.made.lease->bytes_up.left(), 4300);
  ASSERT_TRUE(grant.made.only);
  EXPECT_EQ(grant.made.only->path, "/x");
  EXPECT_EQ(read->asks[0].ask.state, Ask::State::refused);
  EXPECT_EQ(read->asks[0].ask.reason, acl::Reason::method_not_allowed);
}

TEST(SavedState, AnEmptyOneIsReadToo) { EXPECT_TRUE(parse_state(state_text({}), "state.json")); }

TEST(SavedState, OfAThousandAgentsIsNoProblem) {
  SavedState state;
  for (int i = 0; i < 5000; ++i) {
    state.agents.push_back(example().agents[0]);
    state.agents.back().id = "agent-" + std::to_string(i);
  }
  const auto read = parse_state(state_text(state), "state.json");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->agents.size(), 5000U);
}

TEST(SavedState, EveryTruncationIsAnError) {
  const std::string text = state_text(example());
  for (std::size_t length = 0; length + 2 < text.size(); ++length) {
    EXPECT_FALSE(parse_state(text.substr(0, length), "state.json")) << length;
  }
}

TEST(SavedState, RefusesWhatItDoesNotKnow) {
  const char* const texts[] = {
      "",
      "[]",
      "{}",
      R"({"version":2})",
      R"({"version":1,"mode":"open"})",
      R"({"version":1,"unknown":1})",
      R"({"version":1,"agents":{}})",
      R"({"version":1,"agents":[{"id":"a","denied":["not a host"]}]})",
      R"({"version":1,"agents":[{"id":"a","grants":[{"id":"g","hosts":[]}]}]})",
      R"({"version":1,"agents":[{"id":"a","grants":[{"id":"g","hosts":["x.test"],"ttl":1}]}]})",
      R"({"version":1,"agents":[{"id":"a","used_up":-1}]})",
  };
  for (const auto* text : texts) {
    const auto read = parse_state(text, "state.json");
    ASSERT_FALSE(read) << text;
    EXPECT_NE(read.error().message.find("state.json"), std::string::npos);
  }
}

}  // namespace
}  // namespace stile::control
