// Writing that fails: what is refused, what waits, what is counted, and that the log holds after.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <utility>

#include "audit/line.h"
#include "tests/audit/world.h"

namespace stile::audit {
namespace {

// While it lives, files of this process cannot grow beyond so many bytes: the kernel cuts the write
// that reaches the limit short and refuses the next (EFBIG), as a full disk does.
class SizeLimit {
 public:
  explicit SizeLimit(std::size_t bytes) {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  SizeLimit(const SizeLimit&) = delete;
  SizeLimit& operator=(const SizeLimit&) = delete;

 private:
  rlimit before_{};
};

class AuditFailure : public AuditWorld {
 protected:
  // "open close audit-gap …"
  [[nodiscard]] std::string events() const {
    std::string names;
    Line line;
    for (const std::string& text : lines_of(log_path_)) {
      names += read_line(text, line) == LineKind::whole ? line.text(Key::event) : "torn";
      names += ' ';
    }
    return names;
  }
};

TEST_F(AuditFailure, LeavesNothingWrittenUnderDeny) {
  const auto log = open_log({.path = "/dev/full"});
  EXPECT_EQ(write(*log, {open_record(1), close_record(2)}), 0u);
  EXPECT_FALSE(log->healthy());
  EXPECT_EQ(log->problem(),
            "cannot write to /dev/full: No space left on device; requests are refused "
            "(audit-unavailable)");
  EXPECT_EQ(log->events(), 0u);
  EXPECT_EQ(log->gaps(), 1u);  // the close waits
  log->retry();
  EXPECT_FALSE(log->healthy());
}

TEST_F(AuditFailure, CountsEverythingAsWrittenUnderContinue) {
  const auto log = open_log({.path = "/dev/full", .deny_on_failure = false});
  EXPECT_EQ(write(*log, {open_record(1), deny_record("a.example")}), 2u);
  EXPECT_FALSE(log->healthy());
  EXPECT_EQ(log->gaps(), 2u);
}

TEST_F(AuditFailure, UnderDenyIsFollowedByACountOfRefusals) {
  const auto log = open_log();
  EXPECT_EQ(write(*log, {open_record(1)}), 1u);
  {
    const SizeLimit full{read_file(log_path_).size()};
    EXPECT_EQ(write(*log, {open_record(2)}), 0u);
    EXPECT_EQ(write(*log, {close_record(1), open_record(3)}), 0u);
    EXPECT_EQ(write(*log, {deny_record("a.example")}), 0u);
  }
  EXPECT_EQ(events(), "open ");
  log->retry();
  EXPECT_TRUE(log->healthy());
  EXPECT_EQ(log->problem(), "");
  EXPECT_EQ(events(), "open audit-gap close ");
  EXPECT_NE(lines_of(log_path_)[1].find(
                R"("verdict":"deny","reason":"audit-unavailable","count":3,"chain")"),
            std::string::npos)
      << lines_of(log_path_)[1];
  const Verified verified = verify_files({log_path_});
  EXPECT_EQ(verified.status, 0) << verified.err;
  EXPECT_NE(verified.out.find(":2: gap: 3 records of refused requests are missing\n"),
            std::string::npos)
      << verified.out;
}

TEST_F(AuditFailure, UnderContinueIsFollowedByACountOfWhatIsMissing) {
  const auto log = open_log({.deny_on_failure = false});
  EXPECT_EQ(write(*log, {open_record(1)}), 1u);
  {
    const SizeLimit full{read_file(log_path_).size()};
    EXPECT_EQ(write(*log, {open_record(2), deny_record("a.example")}), 2u);
  }
  EXPECT_EQ(write(*log, {open_record(3)}), 1u);
  EXPECT_EQ(events(), "open audit-gap open ");
  const Verified verified = verify_files({log_path_});
  EXPECT_EQ(verified.status, 0) << verified.err;
  EXPECT_NE(verified.out.find(":2: gap: 2 records are missing\n"), std::string::npos);
}

TEST_F(AuditFailure, LetsCloseLinesWaitAndWritesThemFirst) {
  const auto log = open_log();
  EXPECT_EQ(write(*log, {open_record(1), open_record(2), open_record(3)}), 3u);
  {
    const SizeLimit full{read_file(log_path_).size()};
    for (std::uint64_t conn = 1; conn <= 3; ++conn) {
      EXPECT_EQ(write(*log, {close_record(conn)}), 0u);
    }
    EXPECT_FALSE(log->healthy());
  }
  EXPECT_EQ(write(*log, {open_record(4)}), 1u);
  EXPECT_EQ(events(), "open open open close close close open ");
  const Verified verified = verify_files({log_path_});
  EXPECT_NE(verified.out.find("OK: 7 lines in 1 file, chain intact, 0 gaps, 1 unclosed connection"),
            std::string::npos)
      << verified.out << verified.err;
}

TEST_F(AuditFailure, KeepsWhatHasHappenedAndLosesWhatIsThenRefused) {
  const std::pair<Event, bool> table[] = {
      {Event::open, false},  {Event::deny, false}, {Event::grant, false}, {Event::close, true},
      {Event::policy, true}, {Event::start, true}, {Event::stop, true},
  };
  for (const auto& [event, is_kept] : table) {
    SCOPED_TRACE(text(event));
    ::unlink(log_path_.c_str());
    const auto log = open_log();
    Record record = deny_record("a.example");
    record.event = event;
    record.version = "0.1.0";
    {
      const SizeLimit full{0};
      EXPECT_EQ(write(*log, {record}), 0u);
      EXPECT_EQ(log->gaps(), is_kept ? 0u : 1u);
    }
    log->retry();
    EXPECT_EQ(events(), is_kept ? std::string{text(event)} + " " : "audit-gap ");
  }
}

TEST_F(AuditFailure, WritesManyWaitingLinesInOrder) {
  const auto log = open_log();
  std::vector<Record> opens, closes;
  for (std::uint64_t conn = 1; conn <= 2000; ++conn) {
    opens.push_back(open_record(conn));
    closes.push_back(close_record(conn));
  }
  EXPECT_EQ(write(*log, opens), opens.size());
  {
    const SizeLimit full{read_file(log_path_).size()};
    EXPECT_EQ(write(*log, closes), 0u);
  }
  log->retry();
  const Verified verified = verify_files({log_path_});
  EXPECT_NE(
      verified.out.find("OK: 4000 lines in 1 file, chain intact, 0 gaps, 0 unclosed connections"),
      std::string::npos)
      << verified.out << verified.err;
}

// The disk is full at every byte of a batch of three lines.
TEST_F(AuditFailure, AtEveryByteCountsExactlyTheWholeLines) {
  std::size_t first = 0, all = 0;
  {
    const auto log = open_log();
    EXPECT_EQ(write(*log, {open_record(1)}), 1u);
    first = read_file(log_path_).size();
    EXPECT_EQ(write(*log, {open_record(2), deny_record("b"), close_record(1)}), 3u);
    all = read_file(log_path_).size();
  }
  for (std::size_t limit = first; limit < all; ++limit) {
    SCOPED_TRACE(limit);
    ::unlink(log_path_.c_str());
    const auto log = open_log();
    EXPECT_EQ(write(*log, {open_record(1)}), 1u);
    std::size_t written = 0;
    {
      const SizeLimit full{limit};
      written = write(*log, {open_record(2), deny_record("b"), close_record(1)});
    }
    const std::string before = read_file(log_path_);
    std::size_t whole = 0;
    Line line;
    for (const std::string& text : lines_of(log_path_)) {
      if (read_line(text, line) == LineKind::whole) ++whole;
    }
    EXPECT_EQ(written + 1, whole);
    EXPECT_EQ(before.size(), limit);
    EXPECT_FALSE(log->healthy());

    EXPECT_EQ(write(*log, {open_record(3)}), 1u);
    EXPECT_TRUE(log->healthy());
    ASSERT_TRUE(read_file(log_path_).starts_with(before));
    const Verified verified = verify_files({log_path_});
    ASSERT_EQ(verified.status, 0) << verified.err << read_file(log_path_);
    EXPECT_NE(read_file(log_path_).find("\"event\":\"close\""), std::string::npos);
    EXPECT_EQ(log->head().hash, verified.out.substr(verified.out.rfind(' ') + 1, 64));
  }
}

// Space comes back byte by byte, so that the audit-gap itself is torn at each of its bytes.
TEST_F(AuditFailure, ThatGoesOnByteByByteStillHolds) {
  const auto log = open_log();
  EXPECT_EQ(write(*log, {open_record(1)}), 1u);
  const std::size_t begin = read_file(log_path_).size();
  for (std::size_t limit = begin + 1; limit < begin + 900; limit += 7) {
    const SizeLimit full{limit};
    EXPECT_EQ(write(*log, {open_record(2)}), 0u);
  }
  log->retry();
  EXPECT_TRUE(log->healthy());
  const Verified verified = verify_files({log_path_});
  EXPECT_EQ(verified.status, 0) << verified.err << read_file(log_path_);
}

TEST_F(AuditFailure, FollowedByAReopenGoesOnInTheNewFile) {
  const auto log = open_log();
  EXPECT_EQ(write(*log, {open_record(1)}), 1u);
  {
    const SizeLimit full{read_file(log_path_).size() + 50};
    EXPECT_EQ(write(*log, {close_record(1)}), 0u);
  }
  const std::string old = path("audit.jsonl.1");
  ::rename(log_path_.c_str(), old.c_str());
  EXPECT_TRUE(log->reopen());
  log->retry();
  EXPECT_EQ(events(), "audit-gap close ");
  const Verified verified = verify_files({old, log_path_});
  EXPECT_EQ(verified.status, 0) << verified.err;
}

TEST_F(AuditFailure, InSquidsFormatRefusesWhileALineWaits) {
  const auto log = open_log({.format = Format::squid});
  EXPECT_EQ(write(*log, {open_record(1)}, Format::squid), 1u);
  {
    const SizeLimit full{20};
    EXPECT_EQ(write(*log, {open_record(2), close_record(1)}, Format::squid), 1u);
    EXPECT_EQ(write(*log, {open_record(3)}, Format::squid), 0u);
  }
  EXPECT_EQ(write(*log, {open_record(4)}, Format::squid), 1u);
  const auto lines = lines_of(log_path_);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].size(), 20u);
  EXPECT_NE(lines[1].find("TCP_TUNNEL/200"), std::string::npos);
}

// A log whose standard output is a pipe of 4 KiB.
class Pipe {
 public:
  explicit Pipe(int flags) {
    ::signal(SIGPIPE, SIG_IGN);
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC | flags) != 0) ADD_FAILURE() << "no pipe";
    ::fcntl(ends[1], F_SETPIPE_SZ, 4096);
    const int saved = ::dup(STDOUT_FILENO);  // only the log sees the pipe, not the test's reports
    ::dup2(ends[1], STDOUT_FILENO);
    if (auto log = Log::open({})) log_ = std::move(*log);
    ::dup2(saved, STDOUT_FILENO);
    ::close(saved);
    ::close(ends[1]);
    reader_ = ends[0];
  }
  ~Pipe() { close_reader(); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  [[nodiscard]] Log& log() const noexcept { return *log_; }
  std::string read_some() {
    std::string bytes(65536, '\0');
    const ssize_t count = ::read(reader_, bytes.data(), bytes.size());
    bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return bytes;
  }
  void close_reader() { ::close(std::exchange(reader_, -1)); }

 private:
  int reader_ = -1;
  std::unique_ptr<Log> log_;
};

TEST_F(AuditFailure, OfAPipeThatNobodyReadsIsBoundedInTime) {
  for (const int flags : {0, O_NONBLOCK}) {
    Pipe pipe{flags};
    Log& log = pipe.log();
    const std::vector<Record> too_many(20, open_record(1));
    EXPECT_LT(write(log, too_many), too_many.size());  // waits a second, then gives up
    EXPECT_FALSE(log.healthy());
    EXPECT_EQ(write(log, {open_record(2)}), 0u);  // waits no more
    write_file(log_path_, pipe.read_some());
    log.retry();
    EXPECT_TRUE(log.healthy());
    append_file(log_path_, pipe.read_some());
    const Verified verified = verify_files({log_path_});
    EXPECT_EQ(verified.status, 0) << verified.err << read_file(log_path_);
    EXPECT_NE(verified.out.find("gap: a torn line before it; "), std::string::npos) << verified.out;
  }
}

TEST_F(AuditFailure, OfAPipeWithoutAReaderIsAnErrorAndNoSignal) {
  Pipe pipe{0};
  pipe.close_reader();
  EXPECT_EQ(write(pipe.log(), {open_record(1)}), 0u);
  EXPECT_EQ(
      pipe.log().problem(),
      "cannot write to standard output: Broken pipe; requests are refused (audit-unavailable)");
}

}  // namespace
}  // namespace stile::audit
