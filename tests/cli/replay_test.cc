// replay: the requests of a log, judged by two policies.
#include "cli/replay.h"

#include <gtest/gtest.h>

#include "tests/cli/log_file.h"
#include "tests/cli/policies.h"

namespace stile::cli {
namespace {

Replay replayed(const LogFile& log, const Judge& before, const Judge& after) {
  auto result = replay(log.seen(), before, after);
  EXPECT_TRUE(result.has_value());
  return result ? std::move(*result) : Replay{};
}

Judge judge(const std::vector<TestAgent>& agents) {
  return judge_of_config("test", snapshot_of(agents));
}

TEST(Replay, TellsWhatIsNewlyRefusedAndNewlyAllowedWithCounts) {
  LogFile log;
  for (int i = 0; i < 3; ++i) log.request("alpha", "old.example", 443, "allow");
  log.request("alpha", "new.example", 443, "deny", "host-not-allowed");
  log.request("alpha", "both.example", 443, "allow");
  const auto result = replayed(log, judge({{"alpha", {"old.example", "both.example"}}}),
                               judge({{"alpha", {"new.example", "both.example"}}}));
  ASSERT_EQ(result.refused.size(), 1u);
  EXPECT_EQ(result.refused[0].target, "old.example:443");
  EXPECT_EQ(result.refused[0].count, 3u);
  EXPECT_EQ(result.refused[0].after.text(), "deny host-not-allowed");
  ASSERT_EQ(result.allowed.size(), 1u);
  EXPECT_EQ(result.allowed[0].target, "new.example:443");
  EXPECT_EQ(result.requests, 5u);
}

TEST(Replay, PutsTheMostRequestsFirst) {
  LogFile log;
  log.request("alpha", "a.example", 443, "allow");
  for (int i = 0; i < 2; ++i) log.request("alpha", "b.example", 443, "allow");
  const auto result = replayed(log, judge_of_log(), judge({{"alpha", {}}}));
  ASSERT_EQ(result.refused.size(), 2u);
  EXPECT_EQ(result.refused[0].target, "b.example:443");
}

TEST(Replay, KeepsAgentsApart) {
  LogFile log;
  log.request("alpha", "a.example", 443, "allow");
  log.request("beta", "a.example", 443, "deny", "host-not-allowed");
  log.request("gone", "a.example", 443, "allow");
  const auto result =
      replayed(log, judge_of_log(), judge({{"alpha", {}}, {"beta", {"a.example"}}}));
  ASSERT_EQ(result.refused.size(), 2u);
  EXPECT_EQ(result.refused[0].agent, "alpha");
  EXPECT_EQ(result.refused[1].agent, "gone");
  EXPECT_EQ(result.refused[1].after.reason, "unknown-agent");
  ASSERT_EQ(result.allowed.size(), 1u);
  EXPECT_EQ(result.allowed[0].agent, "beta");
}

TEST(Replay, JudgesNobodysRequestsByTheirSource) {
  LogFile log;
  log.request("", "a.example", 443, "deny", "unknown-agent");
  const auto result =
      replayed(log, judge_of_log(), judge({{"alpha", {"a.example"}, "10.0.0.9/32"}}));
  ASSERT_EQ(result.allowed.size(), 1u);
  EXPECT_EQ(result.allowed[0].agent, "-");
}

TEST(Replay, ShowsWhatTheEndOfObservingWouldRefuse) {
  LogFile log;
  log.request("alpha", "a.example", 443, "would-deny", "host-not-allowed");
  const auto observing = judge({{"alpha", {}, "10.0.0.9/32", acl::Mode::observe}});
  const auto enforcing = judge({{"alpha", {}, "10.0.0.9/32"}});
  EXPECT_EQ(replayed(log, observing, enforcing).refused.size(), 1u);
  EXPECT_EQ(replayed(log, judge_of_log(), enforcing).refused.size(), 1u);
  const auto learned = judge({{"alpha", {"a.example"}, "10.0.0.9/32", acl::Mode::observe}});
  EXPECT_EQ(replayed(log, observing, learned).noted.size(), 1u);
}

// Limits, DNS and TLS are of the moment: a name that did not resolve was allowed all the same.
TEST(Replay, TakesRefusalsThatAreNotThePolicysForAllowed) {
  for (const char* reason : {"dns-failure", "rate-limited", "sni-mismatch", "origin-timeout"}) {
    LogFile log;
    log.request("alpha", "a.example", 443, "deny", reason);
    const auto result = replayed(log, judge_of_log(), judge({{"alpha", {"a.example"}}}));
    EXPECT_TRUE(result.allowed.empty() && result.refused.empty()) << reason;
  }
}

TEST(Replay, JudgesPlainHttpAndPortsAsTheDaemonDoes) {
  LogFile log;
  log.request("alpha", "a.example", 80, "deny", "port-not-allowed", "http");
  log.request("alpha", "a.example", 8443, "deny", "port-not-allowed");
  const auto result =
      replayed(log, judge_of_log(), judge({{"alpha", {"http://a.example", "a.example:8443"}}}));
  EXPECT_EQ(result.allowed.size(), 2u);
}

}  // namespace
}  // namespace stile::cli
