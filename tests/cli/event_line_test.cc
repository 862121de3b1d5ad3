// event_line: one event of the audit log as a line of the live view.
#include "cli/event_line.h"

#include <gtest/gtest.h>

namespace stile::cli {
namespace {

std::string shown(const std::string& rest, const Terminal& terminal = {}) {
  const std::string bytes = R"({"ts":"2026-11-16T09:01:02.000000Z","seq":1,)" + rest + "}";
  audit::Line line;
  EXPECT_EQ(audit::read_line(bytes, line), audit::LineKind::whole) << bytes;
  return event_line(line, terminal);
}

TEST(EventLine, SaysWhoWhatAndWhy) {
  EXPECT_EQ(shown(R"("event":"deny","agent":"alpha","method":"CONNECT","host":"a.example",)"
                  R"("port":443,"verdict":"deny","reason":"host-not-allowed")"),
            "09:01:02 alpha        deny       CONNECT a.example:443  host-not-allowed");
  EXPECT_EQ(shown(R"("event":"open","agent":"alpha","method":"GET","host":"a.example","port":80,)"
                  R"-("path":"/x","verdict":"allow","rule":"a.example (stile.toml:3)")-"),
            "09:01:02 alpha        open       GET a.example:80/x  by a.example (stile.toml:3)");
  EXPECT_EQ(shown(R"("event":"close","agent":"alpha","method":"CONNECT","host":"a.example",)"
                  R"("port":443,"verdict":"allow","bytes_up":517,"bytes_down":16384,)"
                  R"("duration_ms":842)"),
            "09:01:02 alpha        close      CONNECT a.example:443  up 517 B, down 16.0 KiB, "
            "842 ms");
  EXPECT_EQ(shown(R"("event":"open","agent":"a","method":"CONNECT","host":"b.example","port":443,)"
                  R"("verdict":"would-deny","reason":"host-not-allowed")"),
            "09:01:02 a            would-deny CONNECT b.example:443  host-not-allowed");
}

TEST(EventLine, IsOneRowOfTheTerminal) {
  const auto line = shown(R"("event":"deny","agent":"alpha","method":"CONNECT","host":")" +
                              std::string(200, 'a') + R"(","port":443,"verdict":"deny")",
                          {false, 60});
  EXPECT_EQ(line.size(), 59u + std::string_view{"…"}.size());
}

TEST(EventLine, KeepsTheReasonBesideALongName) {
  const std::string refused = R"("event":"deny","agent":"alpha","method":"CONNECT","host":")" +
                              std::string(100, 'a') +
                              R"(.b.example","port":443,"verdict":"deny",)"
                              R"("reason":"host-not-allowed")";
  EXPECT_EQ(shown(refused, {false, 80}),
            "09:01:02 alpha        deny       …aaaaaaaaaaaaaa.b.example:443  host-not-allowed");
  EXPECT_EQ(shown(refused, {false, 62}),
            "09:01:02 alpha        deny       …aaaaaaaaa.b.example:443  ho…");
}

TEST(EventLine, NamesTheSourceThatBelongsToNoAgent) {
  EXPECT_EQ(shown(R"("event":"deny","agent":"-","src":"10.9.8.7:4242","method":"CONNECT",)"
                  R"("host":"a.example","port":443,"verdict":"deny","reason":"unknown-agent")"),
            "09:01:02 -            deny       CONNECT a.example:443  unknown-agent  from "
            "10.9.8.7:4242");
}

TEST(EventLine, LeavesEscapedWhatAnAgentSent) {
  const auto line = shown(
      R"("event":"deny","agent":"alpha","host":"a\u001b[2J\u000d","port":443,"verdict":"deny")");
  EXPECT_EQ(line.find('\x1b'), std::string::npos);
  EXPECT_NE(line.find("\\u001b[2J\\u000d"), std::string::npos);
}

}  // namespace
}  // namespace stile::cli
