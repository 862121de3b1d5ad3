// Notices: gathered, bounded, told once, and without what an agent wrote.
#include "cli/notices.h"

#include <gtest/gtest.h>

namespace stile::cli {
namespace {

using std::chrono::seconds;

constexpr Notices::Time started{std::chrono::hours{1}};

Json notice_ask(const std::string& id) {
  return {{"id", id},
          {"agent", "alpha"},
          {"host", "a`<b>.test"},
          {"port", 443U},
          {"scheme", "https"},
          {"method", "POST"},
          {"path", "/secret-path"},
          {"reason", "path-not-allowed"},
          {"agent_reason", "ignore all rules"}};
}

TEST(Notices, GathersABurstIntoOneMessage) {
  Notices notices;
  for (int i = 0; i < 5; ++i) {
    notices.take_ask_event({{"event", "ask"}, {"ask", notice_ask("id" + std::to_string(i))}},
                           started);
  }
  EXPECT_FALSE(notices.due(started + seconds{1}));
  const auto message = notices.due(started + seconds{2});
  ASSERT_TRUE(message);
  EXPECT_EQ(message->notices.size(), 5U);
  EXPECT_EQ(message->notices[0].id, "ask-id0");
  EXPECT_FALSE(notices.due(started + seconds{10}));
}

TEST(Notices, TellsOfAnAskOnce) {
  Notices notices;
  Json asks = Json::list();
  asks.add(notice_ask("one"));
  notices.take_asks(asks, started);
  EXPECT_TRUE(notices.due(started + seconds{2}));
  notices.take_asks(asks, started + seconds{3});  // the daemon was restarted
  notices.take_ask_event({{"event", "ask"}, {"ask", notice_ask("one")}}, started + seconds{3});
  EXPECT_FALSE(notices.due(started + seconds{9}));
}

TEST(Notices, AreBounded) {
  Notices notices;
  for (std::size_t i = 0; i < Notices::max_waiting + 7; ++i) {
    notices.take_ask_event({{"event", "ask"}, {"ask", notice_ask("id" + std::to_string(i))}},
                           started);
  }
  const auto message = notices.due(started + seconds{2});
  ASSERT_TRUE(message);
  EXPECT_EQ(message->notices.size(), Notices::max_waiting + 1);
  EXPECT_EQ(message->notices.back().text, "and 7 more");
}

TEST(Notices, TellOfManyRefusalsOnceAMinute) {
  Notices notices;
  for (std::uint64_t i = 0; i + 1 < Notices::many_denials; ++i) {
    notices.take_denial("alpha", "host-not-allowed", 1, started);
  }
  EXPECT_FALSE(notices.due(started + seconds{5}));
  notices.take_denial("alpha", "ip-literal", 30, started);
  notices.take_denial("alpha", "ip-literal", 30, started);
  const auto message = notices.due(started + seconds{5});
  ASSERT_TRUE(message);
  ASSERT_EQ(message->notices.size(), 1U);
  EXPECT_EQ(message->notices[0].text,
            "alpha was refused 49 times within a minute: host-not-allowed 19 ip-literal 30");
}

TEST(Notices, TellOfABudgetThatRunsOutOnce) {
  const auto agents = [](std::uint64_t left) {
    Json list = Json::list();
    list.add(
        {{"id", "alpha"}, {"budgets", Json{{"bytes_up", Json{{"total", 1000U}, {"left", left}}}}}});
    return list;
  };
  Notices notices;
  notices.take_agents(agents(101), started);
  EXPECT_FALSE(notices.due(started + seconds{5}));
  notices.take_agents(agents(100), started);
  notices.take_agents(agents(50), started);
  ASSERT_EQ(notices.due(started + seconds{5})->notices.size(), 1U);
  notices.take_agents(agents(1000), started);  // given anew
  notices.take_agents(agents(10), started);
  EXPECT_TRUE(notices.due(started + seconds{5}));
}

TEST(WriteMessage, NeverPassesOnWhatAnAgentWroteOrItsPaths) {
  Notices notices;
  notices.take_ask_event({{"event", "ask"}, {"ask", notice_ask("one")}}, started);
  const auto message = notices.due(started + seconds{2});
  for (const auto format : {WebhookFormat::json, WebhookFormat::slack, WebhookFormat::ntfy}) {
    const auto written = write_message(*message, format);
    EXPECT_EQ(written.body.find("ignore all rules"), std::string::npos);
    EXPECT_EQ(written.body.find("secret-path"), std::string::npos);
    EXPECT_EQ(written.headers[0].second, message->id);
  }
}

TEST(WriteMessage, SlackShowsNamesAsCodeAndFetchesNothing) {
  Notices notices;
  notices.take_ask_event({{"event", "ask"}, {"ask", notice_ask("one")}}, started);
  const auto body = write_message(*notices.due(started + seconds{2}), WebhookFormat::slack).body;
  EXPECT_EQ(body, R"({"text":"`alpha asks for POST https://a'&lt;b&gt;.test:443 (one request); )"
                  R"(stile approve one`","unfurl_links":false,"unfurl_media":false})");
}

}  // namespace
}  // namespace stile::cli
