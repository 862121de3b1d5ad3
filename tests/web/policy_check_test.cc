// A typed config: its rules, the log and open connections by the old and the new one.
#include "web/policy_check.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace stile::web {
namespace {

std::string config_with(const std::string& patterns, const std::string& more = "") {
  return "[[agent]]\nid = \"alpha\"\nsource = [\"10.200.0.2\"]\nallow = [" + patterns + "]\n" +
         more;
}

PolicyCheck check(const std::string& before, const std::string& after) {
  auto made = PolicyCheck::make(before, after, config::CapabilityFiles{::geteuid()});
  EXPECT_TRUE(made) << made.error().message;
  return std::move(*made);
}

std::string open_line(int seq, const std::string& host, const std::string& verdict) {
  const bool is_open = verdict == "allow";
  return R"({"ts":"2026-11-18T02:00:00.000000Z","seq":)" + std::to_string(seq) + R"(,"event":")" +
         (is_open ? "open" : "deny") + R"(","agent":"alpha","src":"10.200.0.2:40000",)" +
         R"("scheme":"connect","host":")" + host + R"(","port":443,"verdict":")" + verdict + '"' +
         (is_open ? "" : R"(,"reason":"host-not-allowed")") + '}';
}

TEST(PolicyCheck, TellsRulesRequestsAndConnectionsThatChange) {
  auto one = check(config_with(R"("a.test", "b.test")"), config_with(R"("b.test", "c.test")"));
  one.add_line(open_line(1, "a.test", "allow"));
  one.add_line(open_line(2, "b.test", "allow"));
  one.add_line(open_line(3, "c.test", "deny"));
  one.add_line(open_line(4, "c.test", "deny"));
  one.add_line("not a line");
  one.add_connections(
      R"({"ok":true,"connections":[{"agent":"alpha","host":"a.test","port":443},)"
      R"({"agent":"alpha","host":"b.test","port":443},{"agent":"alpha","host":"b.test","port":70000}]})");
  const auto text = one.json();
  EXPECT_NE(text.find(R"("agent":"alpha","kind":"changed","allow_added":["c.test"],)"
                      R"("allow_removed":["a.test"])"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"("requests":4,"targets":3)"), std::string::npos) << text;
  EXPECT_NE(
      text.find(R"("allowed":{"total":1,"rows":[{"agent":"alpha","target":"c.test:443","count":2)"),
      std::string::npos)
      << text;
  EXPECT_NE(
      text.find(R"("refused":{"total":1,"rows":[{"agent":"alpha","target":"a.test:443","count":1)"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find(R"("cut":{"total":1,"rows":[{"agent":"alpha","host":"a.test","port":443}]})"),
            std::string::npos)
      << text;
}

TEST(PolicyCheck, SaysWhatIsWrongWithTheNewConfig) {
  const config::CapabilityFiles none{::geteuid()};
  const auto good = config_with(R"("a.test")");
  for (const auto* text : {"nonsense", "[server]\nlistn = []", "[[agent]]\nid = \"a b\""}) {
    EXPECT_FALSE(PolicyCheck::make(good, text, none)) << text;
  }
  const auto typo = PolicyCheck::make(good, "[server]\nlistn = []", none);
  EXPECT_NE(typo.error().message.find("listen"), std::string::npos) << typo.error().message;
}

TEST(PolicyCheck, KeepsABoundedNumberOfTargets) {
  auto one = check(config_with(R"("a.test")"), config_with(""));
  for (int i = 0; i < static_cast<int>(PolicyCheck::max_targets) + 5; ++i) {
    one.add_line(open_line(i, "h" + std::to_string(i) + ".test", "deny"));
  }
  const auto text = one.json();
  EXPECT_NE(text.find(R"("left_out":5)"), std::string::npos);
}

TEST(PolicyCheck, ShowsABoundedNumberOfRows) {
  auto one = check(config_with(R"(".test")"), config_with(""));
  for (int i = 0; i < 300; ++i)
    one.add_line(open_line(i, "h" + std::to_string(i) + ".test", "allow"));
  const auto text = one.json();
  EXPECT_NE(text.find(R"("refused":{"total":300)"), std::string::npos);
  std::size_t rows = 0;
  for (auto at = text.find("\"target\""); at != std::string::npos;
       at = text.find("\"target\"", at + 1))
    ++rows;
  EXPECT_EQ(rows, PolicyCheck::max_rows);
}

}  // namespace
}  // namespace stile::web
