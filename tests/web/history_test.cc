// History: what is counted, what is shown, and that an agent cannot make it grow.
#include "web/history.h"

#include <gtest/gtest.h>

#include "config/json_loader.h"

namespace stile::web {
namespace {

// 2026-11-16T09:00:00Z
constexpr UnixMicros start = 1'794'819'600'000'000;
constexpr UnixMicros minute = 60'000'000;

std::string line(std::string_view event, std::string_view agent, std::string_view host,
                 std::string_view verdict, std::string_view more = "", UnixMicros time = start) {
  std::string text = R"({"ts":")" + time_text(time) + R"(","seq":1,"event":")" + std::string{event};
  text += R"(","agent":")" + std::string{agent} + R"(","host":")" + std::string{host};
  return text + R"(","port":443,"verdict":")" + std::string{verdict} + '"' + std::string{more} +
         '}';
}

std::size_t lines_in(const History& history, const Filter& filter) {
  return history.lines_since(0, filter, 100'000).count;
}

TEST(History, CountsRequestsByMinute) {
  History history;
  history.add(line("open", "alpha", "a.test", "allow"));
  history.add(line("deny", "alpha", "b.test", "deny", R"(,"reason":"host-not-allowed","count":3)"));
  history.add(line("deny", "alpha", "b.test", "deny", "", start - minute));
  history.add_bytes(start, 10, 20);
  const auto strip = history.strip_json(start + 1);
  EXPECT_TRUE(strip.ends_with(
      R"("allowed":0,"denied":1,"bytes_up":0,"bytes_down":0},{"t":1794819600,"allowed":1,"denied":3,"bytes_up":10,"bytes_down":20}])"))
      << strip;
  EXPECT_EQ(history.strip_json(start + 61 * minute).find("\"denied\":3"), std::string::npos);
}

TEST(History, LateLineOfAnOlderHourChangesNothing) {
  History history;
  history.add(line("open", "alpha", "a.test", "allow"));
  history.add(line("open", "alpha", "a.test", "allow", "", start - 60 * minute));
  EXPECT_TRUE(history.strip_json(start).ends_with(
      R"("allowed":1,"denied":0,"bytes_up":0,"bytes_down":0}])"));
}

TEST(History, RemembersWhoReachedAHost) {
  History history;
  history.add(line("open", "alpha", "a.test", "allow"));
  history.add(line("close", "alpha", "a.test", "allow", R"(,"bytes_up":5,"bytes_down":7)"));
  history.add(line("deny", "beta", "a.test", "deny", R"(,"reason":"host-denied")", start + 1));
  EXPECT_EQ(
      history.hosts_json("", "a.test"),
      R"({"total":2,"hosts":[{"agent":"beta","host":"a.test","allowed":0,"denied":1,"would_deny":0,"bytes_up":0,"bytes_down":0,"first":"2026-11-16T09:00:00.000001Z","last":"2026-11-16T09:00:00.000001Z","reason":"host-denied"},{"agent":"alpha","host":"a.test","allowed":1,"denied":0,"would_deny":0,"bytes_up":5,"bytes_down":7,"first":"2026-11-16T09:00:00Z","last":"2026-11-16T09:00:00Z","reason":""}]})");
  EXPECT_EQ(history.hosts_json("gamma", ""), R"({"total":0,"hosts":[]})");
}

TEST(History, FiltersLines) {
  History history;
  history.add(line("open", "alpha", "a.test", "allow"));
  history.add(line("close", "alpha", "a.test", "allow"));  // no decision
  history.add(line("deny", "alpha", "X.a.test", "deny"));
  history.add(line("deny", "beta", "b.test", "deny"));
  history.add("not a line");
  EXPECT_EQ(lines_in(history, {}), 3U);
  EXPECT_EQ(lines_in(history, {"alpha", "", "", false}), 2U);
  EXPECT_EQ(lines_in(history, {"alpha", "deny", "", false}), 1U);
  EXPECT_EQ(lines_in(history, {"", "", "a.test", false}), 2U);
  EXPECT_EQ(lines_in(history, {"", "", "a.test", true}), 1U);
}

TEST(History, SkipsTheOldestOfABurst) {
  History history;
  for (int i = 0; i < 10; ++i) history.add(line("deny", "alpha", "h" + std::to_string(i), "deny"));
  const auto news = history.lines_since(4, {}, 2);
  EXPECT_EQ(news.count, 2U);
  EXPECT_EQ(news.skipped, 4U);
  EXPECT_NE(news.lines.find("\"h9\""), std::string::npos);
  EXPECT_EQ(news.lines.find("\"h7\""), std::string::npos);
}

TEST(History, IsBoundedInLinesBytesAndHosts) {
  History history;
  const std::string path = R"(,"reason":")" + std::string(60'000, 'x') + '"';
  for (int i = 0; i < 300; ++i) {
    history.add(line("deny", "alpha", "h" + std::to_string(i) + ".test", "deny", path));
  }
  EXPECT_LE(lines_in(history, {}), History::max_line_bytes / 60'000);
  history.add(line("deny", "beta", "only.test", "deny"));
  for (std::size_t i = 0; i < History::max_lines + 10; ++i) {
    history.add(line("deny", "alpha", "h" + std::to_string(i % 5000), "deny"));
  }
  EXPECT_EQ(lines_in(history, {}), History::max_lines);
  const std::string most = R"({"total":)" + std::to_string(History::max_hosts_per_agent);
  EXPECT_TRUE(history.hosts_json("alpha", "").starts_with(most));
  EXPECT_TRUE(history.hosts_json("beta", "").starts_with(R"({"total":1)"));
}

TEST(History, KeepsBytesOfAnAgentEscaped) {
  History history;
  history.add(line("deny", "alpha", R"(<img src=x>\"\u00e4\u000a)", "deny"));
  const auto json = history.hosts_json("alpha", "");
  EXPECT_NE(json.find(R"(<img src=x>\"\u00e4\u000a)"), std::string::npos) << json;
  EXPECT_TRUE(config::parse_json(json, ""));
}

}  // namespace
}  // namespace stile::web
