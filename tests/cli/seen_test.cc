// Seen: what agents asked for and what became of it.
#include "cli/seen.h"

#include <gtest/gtest.h>

#include "tests/cli/log_file.h"

namespace stile::cli {
namespace {

TEST(Seen, CountsRequestsByTargetAndOutcome) {
  LogFile log;
  log.request("alpha", "a.example", 443, "allow");
  log.request("alpha", "a.example", 443, "deny", "host-not-allowed");
  log.request("alpha", "a.example", 443, "deny", "dns-failure");
  log.request("alpha", "a.example", 443, "would-deny", "host-not-allowed");
  log.request("alpha", "a.example", 8443, "allow");
  const auto seen = log.seen();
  ASSERT_EQ(seen.targets().size(), 2u);
  const auto& outcome = seen.targets().begin()->second;
  EXPECT_EQ(outcome.allowed, 1u);
  EXPECT_EQ(outcome.observed.at("host-not-allowed"), 1u);
  EXPECT_EQ(outcome.refused.at("host-not-allowed"), 1u);
  EXPECT_EQ(outcome.refused.at("dns-failure"), 1u);
  EXPECT_EQ(outcome.count(), 4u);
}

TEST(Seen, PassesOverClosesAndWhatTheDaemonDid) {
  LogFile log;
  log.add(R"("event":"start","version":"1")");
  log.request("alpha", "a.example", 443, "allow");
  log.add(R"("event":"close","agent":"alpha","host":"a.example","port":443,"verdict":"allow")");
  log.add(R"("event":"deny","agent":"alpha","verdict":"deny","reason":"header-timeout")");
  const auto seen = log.seen();
  ASSERT_EQ(seen.targets().size(), 1u);
  EXPECT_EQ(seen.targets().begin()->second.count(), 1u);
}

TEST(Seen, TakesARefusedNameForItsUsualPort) {
  LogFile log;
  log.add(
      R"("event":"deny","agent":"alpha","method":"DNS","host":"a.example","verdict":"deny","reason":"host-not-allowed")");
  const auto seen = log.seen();
  ASSERT_EQ(seen.targets().size(), 1u);
  EXPECT_EQ(seen.targets().begin()->first.port, 443);
}

TEST(Seen, KnowsNobodysRequestsByTheirSource) {
  LogFile log;
  log.request("", "a.example", 443, "deny", "unknown-agent");
  log.request("-", "a.example", 443, "deny", "unknown-agent");  // as the daemon writes it
  const auto seen = log.seen();
  ASSERT_EQ(seen.targets().size(), 1u);
  EXPECT_EQ(seen.targets().begin()->first.agent, "");
  EXPECT_EQ(seen.targets().begin()->first.source, "10.0.0.9");
}

TEST(Seen, CountsLinesThatAreNotOfAnAuditLog) {
  LogFile log;
  log.add_raw("1731719425.123 842 10.0.0.7 TCP_TUNNEL/200 16464 CONNECT a.example:443\n");
  log.request("alpha", "a.example", 443, "allow");
  log.add_raw("{\"ts\":\"2026-11");  // torn by a crash
  const auto seen = log.seen();
  EXPECT_EQ(seen.targets().size(), 1u);
  EXPECT_EQ(seen.foreign_lines(), 1u);
}

TEST(Seen, TellsAFileThatCannotBeRead) {
  Seen seen;
  EXPECT_FALSE(seen.read("/nonexistent/audit.jsonl"));
}

TEST(Seen, WritesTargetsWithoutBytesThatSteerATerminal) {
  EXPECT_EQ(target_text({"alpha", "", acl::Scheme::http, "a\x1b[2J", 80}), "http://a\\x1b[2J:80");
  EXPECT_EQ(target_text({"alpha", "", acl::Scheme::tunnel, "a.example", 0}), "a.example");
}

}  // namespace
}  // namespace stile::cli
