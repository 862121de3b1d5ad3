// The bound on what one agent's refusals write to the audit log.
#include "proxy/session/refusal_log.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "audit/line.h"
#include "proxy/base/loop.h"

namespace stile::session {
namespace {

using acl::Reason;
using audit::Key;
using std::chrono::milliseconds, std::chrono::seconds;

struct LoggedLine {
  std::string method, path, reason;
  std::uint64_t count;
};

class RefusalLogTest : public ::testing::Test {
 protected:
  RefusalLogTest() {
    std::filesystem::remove(path_);
    audit::Log::Options options;
    options.path = path_;
    log_ = *audit::Log::open(options);
    queue_.emplace(loop_, *log_);
  }
  ~RefusalLogTest() override { std::filesystem::remove(path_); }

  // True: it has a line of its own.
  bool refuse(const std::shared_ptr<acl::Account>& account, SteadyTime now,
              Reason reason = Reason::host_not_allowed, const std::string& path = "/") {
    audit::Record record;
    record.event = audit::Event::deny;
    record.agent = "alpha";
    record.method = method_;
    record.path = path;
    record.reason = reason;
    const std::size_t before = queue_->bytes();
    static_cast<void>(refusals_.write(*queue_, record, account, now));
    const bool has_line = queue_->bytes() > before;
    queue_->flush();
    return has_line;
  }

  std::vector<LoggedLine> lines() const {
    std::vector<LoggedLine> all;
    std::ifstream file{path_};
    audit::Line line;
    for (std::string text; std::getline(file, text);) {
      EXPECT_EQ(audit::read_line(text, line), audit::LineKind::whole) << text;
      all.push_back({line.text(Key::method), line.text(Key::path), line.text(Key::reason),
                     line.number(Key::count)});
    }
    return all;
  }

  std::string path_ = ::testing::TempDir() + "refusal_log_test." +
                      ::testing::UnitTest::GetInstance()->current_test_info()->name();
  Loop loop_;
  std::unique_ptr<audit::Log> log_;
  std::optional<AuditQueue> queue_;
  RefusalLog refusals_;
  std::shared_ptr<acl::Account> alpha_ = std::make_shared<acl::Account>();
  std::shared_ptr<acl::Account> beta_ = std::make_shared<acl::Account>();
  SteadyTime start_ = SteadyTime{} + seconds{1000};
  std::string method_ = "GET";
};

TEST_F(RefusalLogTest, WritesEachOfABurstAndThenCounts) {
  constexpr int burst = RefusalLog::lines_per_second * RefusalLog::burst_seconds;
  for (int i = 0; i < burst; ++i) ASSERT_TRUE(refuse(alpha_, start_)) << i;
  // The line with which the share is used up may still be written.
  static_cast<void>(refuse(alpha_, start_));
  EXPECT_FALSE(refuse(alpha_, start_));
  EXPECT_TRUE(refuse(beta_, start_)) << "one agent takes another's lines";
}

TEST_F(RefusalLogTest, OneLinePerReasonHasTheNumberOfTheRest) {
  constexpr int total = 5000;
  int written = 0;
  for (int i = 0; i < total; ++i) {
    const Reason reason = i % 5 == 0 ? Reason::ip_literal : Reason::host_not_allowed;
    written += refuse(alpha_, start_, reason) ? 1 : 0;
  }
  EXPECT_EQ(lines().size(), static_cast<std::size_t>(written));
  refusals_.write_counted(*log_);
  const auto all = lines();
  ASSERT_EQ(all.size(), static_cast<std::size_t>(written) + 2);
  std::uint64_t told = 0;
  for (const auto& line : all) told += std::max<std::uint64_t>(line.count, 1);
  EXPECT_EQ(told, total);
  EXPECT_EQ(all[all.size() - 2].reason, "ip-literal");
  EXPECT_EQ(all.back().reason, "host-not-allowed");
  refusals_.write_counted(*log_);
  EXPECT_EQ(lines().size(), all.size()) << "counted twice";
}

TEST_F(RefusalLogTest, InTheLongRunLinesAndBytesAreBounded) {
  // 1000 a second for two minutes, with lines as long as they can be made.
  method_ = std::string(1000, 'M');
  const std::string path(5000, '\x01');
  SteadyTime now = start_;
  std::size_t written = 0;
  constexpr int total_seconds = 120;
  for (int i = 0; i < total_seconds * 1000; ++i, now += milliseconds{1}) {
    if (refuse(alpha_, now, Reason::bad_request, path)) ++written;
    if (i % 1000 == 999) refusals_.write_counted(*log_);
  }
  constexpr auto share = RefusalLog::burst_seconds + total_seconds;
  const auto bytes = std::filesystem::file_size(path_);
  EXPECT_LE(written, share * RefusalLog::lines_per_second + 1U);
  EXPECT_LE(bytes, share * RefusalLog::bytes_per_second + total_seconds * 400U);
  EXPECT_GT(written, 100U) << "nothing is left to look at";
}

TEST_F(RefusalLogTest, CutsWhatTheAgentChose) {
  method_ = std::string(100, 'M');
  refuse(alpha_, start_, Reason::host_not_allowed, "/" + std::string(1000, 'p'));
  ASSERT_EQ(lines().size(), 1U);
  EXPECT_EQ(lines()[0].method, std::string(32, 'M'));
  EXPECT_EQ(lines()[0].path, "/" + std::string(255, 'p'));
}

TEST_F(RefusalLogTest, WhatIsCountedBetweenTwoLinesIsNotLost) {
  for (int round = 0; round < 3; ++round) {
    refusals_.count("alpha", alpha_, Reason::too_many_connections);
    refusals_.count("alpha", alpha_, Reason::too_many_connections);
    refusals_.write_counted(*log_);
  }
  const auto all = lines();
  ASSERT_EQ(all.size(), 3U);
  for (const auto& line : all) EXPECT_EQ(line.count, 2U);
}

}  // namespace
}  // namespace stile::session
