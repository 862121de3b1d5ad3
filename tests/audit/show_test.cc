// show: lines for people.
#include "audit/show.h"

#include <algorithm>
#include <sstream>

#include "tests/audit/world.h"

namespace stile::audit {
namespace {

class AuditShow : public AuditWorld {
 protected:
  void write_sample() const {
    const auto log = open_log();
    Record other = deny_record("b.example\x1b[2J");
    other.agent = "beta";
    EXPECT_EQ(write(*log, {open_record(1), deny_record("a.example"), other, close_record(1)}), 4u);
  }
  [[nodiscard]] std::string shown(const ShowOptions& options, int expected_status = 0) const {
    std::ostringstream out, err;
    const auto print = [&](const Line& line, std::string_view) {
      if (matches(line, options)) out << describe(line) << '\n';
    };
    EXPECT_EQ(read_lines({log_path_}, print, err), expected_status);
    return out.str() + err.str();
  }
};

TEST_F(AuditShow, WritesOneReadableLineEach) {
  write_sample();
  EXPECT_EQ(shown({}),
            "2026-11-16T09:00:00.000000Z open      alpha        CONNECT api.github.com:443 by "
            "api.github.com (/etc/stile/stile.toml:12) status 200 to 140.82.121.6 sni "
            "api.github.com policy 3\n"
            "2026-11-16T09:00:00.000000Z deny      alpha        CONNECT a.example:443 "
            "host-not-allowed status 403 policy 3\n"
            "2026-11-16T09:00:00.000000Z deny      beta         CONNECT "
            "b.example\\u001b[2J:443 host-not-allowed status 403 policy 3\n"
            "2026-11-16T09:00:00.000000Z close     alpha        CONNECT api.github.com:443 by "
            "api.github.com (/etc/stile/stile.toml:12) status 200 to 140.82.121.6 sni "
            "api.github.com up 517 down 16464 ms 842 policy 3\n");
}

TEST_F(AuditShow, EndsALineOfFewWordsWithoutBlanks) {
  {
    const auto log = open_log();
    Record record;
    record.event = Event::stop;
    EXPECT_EQ(write(*log, {record}), 1u);
  }
  EXPECT_EQ(shown({}), "1970-01-01T00:00:00.000000Z stop      -\n");
}

TEST_F(AuditShow, KeepsToOneAgentOrToRefusals) {
  write_sample();
  EXPECT_EQ(std::ranges::count(shown({.agent = "beta"}), '\n'), 1);
  EXPECT_EQ(std::ranges::count(shown({.denied_only = true}), '\n'), 2);
  EXPECT_EQ(std::ranges::count(shown({.agent = "alpha", .denied_only = true}), '\n'), 1);
  EXPECT_EQ(shown({.agent = "gamma"}), "");
}

TEST_F(AuditShow, KeepsToWhatCameLater) {
  write_sample();
  EXPECT_EQ(std::ranges::count(shown({.since = "2026-11-16T09:00:00.000000Z"}), '\n'), 4);
  EXPECT_EQ(shown({.since = "2026-11-16T09:00:00.000001Z"}), "");
}

TEST_F(AuditShow, WhatTheEndOfTheDaemonCutWasNotRefused) {
  {
    const auto log = open_log();
    Record cut = close_record(1);
    cut.verdict = acl::Verdict::deny;
    cut.reason = acl::Reason::draining;
    EXPECT_EQ(write(*log, {open_record(1), cut}), 2u);
  }
  EXPECT_EQ(shown({.denied_only = true}), "");
}

TEST_F(AuditShow, NamesWhatIsNoAuditLineAndGoesOn) {
  write_sample();
  append_file(log_path_, "garbage\n{\"ts\":\"\n");
  const std::string text = shown({.agent = "beta"}, 1);
  EXPECT_NE(text.find(log_path_ + ":5: is not an audit line\n" + log_path_ + ":6: is torn\n"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace stile::audit
