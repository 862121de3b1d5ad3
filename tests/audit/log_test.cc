// Log: the chain, over restarts, and everything that its callers see.
#include "audit/log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "audit/line.h"
#include "tests/audit/world.h"

namespace stile::audit {
namespace {

class AuditLog : public AuditWorld {};

std::string hash_of(std::string_view line) {
  Sha256 sha;
  return std::string{hash_text(sha.hash(line))};
}

std::string prev_of(const std::string& text) {
  Line line;
  return read_line(text, line) == LineKind::whole ? line.text(Key::prev) : "no line";
}

TEST(Sha256, AgreesWithTheStandard) {  // FIPS 180-4 examples
  EXPECT_EQ(hash_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Sha256, GoesOnAfterItsHashWasRead) {
  Sha256 sha;
  sha.reset();
  sha.update("a");
  EXPECT_EQ(hash_text(sha.hex()), hash_of("a"));
  sha.update("bc");
  EXPECT_EQ(hash_text(sha.hex()), hash_of("abc"));
}

TEST_F(AuditLog, WritesNumberAndLinkIntoEachLine) {
  const auto log = open_log();
  EXPECT_EQ(write(*log, {open_record(1), close_record(1)}), 2u);
  const auto lines = lines_of(log_path_);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0],
            R"({"ts":"2026-11-16T09:00:00.000000Z","seq":1,"event":"open","agent":"alpha",)"
            R"("src":"10.200.0.2:40312","conn":1,"method":"CONNECT","host":"api.github.com",)"
            R"x("port":443,"verdict":"allow","rule":"api.github.com (/etc/stile/stile.toml:12)",)x"
            R"("status":200,"origin":"140.82.121.6","sni":"api.github.com","policy":3,)"
            R"("chain":"main","prev":")" +
                std::string(64, '0') + "\"}");
  EXPECT_EQ(prev_of(lines[1]), hash_of(lines[0]));
  EXPECT_EQ(log->head().seq, 2u);
  EXPECT_EQ(log->head().hash, hash_of(lines[1]));
  EXPECT_EQ(log->events(), 2u);
  EXPECT_EQ(log->gaps(), 0u);
  EXPECT_TRUE(log->healthy());
}

TEST_F(AuditLog, EmptiesTheBatch) {
  const auto log = open_log();
  Batch batch{Format::json};
  batch.add(open_record(1));
  EXPECT_EQ(batch.size(), 1u);
  EXPECT_EQ(log->write(batch), 1u);
  EXPECT_TRUE(batch.empty());
  EXPECT_EQ(log->write(batch), 0u);
  EXPECT_EQ(lines_of(log_path_).size(), 1u);
}

TEST_F(AuditLog, GoesOnOverRestarts) {
  for (std::uint64_t run = 1; run <= 5; ++run) {
    const auto log = open_log();
    EXPECT_EQ(write(*log, {open_record(run), close_record(run)}), 2u);
  }
  const Verified verified = verify_files({log_path_});
  EXPECT_EQ(verified.status, 0) << verified.err;
  EXPECT_NE(
      verified.out.find("OK: 10 lines in 1 file, chain intact, 0 gaps, 0 unclosed connections"),
      std::string::npos)
      << verified.out;
}

TEST_F(AuditLog, FindsItsEndBehindLinesOfAnyLength) {
  const std::string host(max_field_bytes, '\xff');
  for (int run = 0; run < 3; ++run) {
    const auto log = open_log();
    std::vector<Record> records(100, deny_record(host));
    for (Record& record : records) record.path = record.sni = record.method = host;
    EXPECT_EQ(write(*log, records), records.size());
  }
  EXPECT_EQ(verify_files({log_path_}).status, 0);
}

TEST_F(AuditLog, NumbersLinesAlsoWithoutAChain) {
  for (int run = 0; run < 2; ++run) {
    const auto log = open_log({.chain = false});
    EXPECT_EQ(write(*log, {deny_record("a.example")}), 1u);
  }
  EXPECT_EQ(lines_of(log_path_)[1],
            R"({"ts":"2026-11-16T09:00:00.000000Z","seq":2,"event":"deny","agent":"alpha",)"
            R"("src":"10.200.0.2:40312","method":"CONNECT","host":"a.example","port":443,)"
            R"("verdict":"deny","reason":"host-not-allowed","status":403,"policy":3})");
}

TEST_F(AuditLog, WritesSquidLinesForFinishedRequestsOnly) {
  const auto log = open_log({.format = Format::squid});
  EXPECT_EQ(write(*log, {open_record(1), close_record(1), deny_record("a.example")}, Format::squid),
            3u);
  EXPECT_EQ(write(*log, {open_record(2)}, Format::squid), 1u);
  const auto lines = lines_of(log_path_);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[0].find("TCP_TUNNEL/200"), std::string::npos);
  EXPECT_NE(lines[1].find("TCP_DENIED/403"), std::string::npos);
}

TEST_F(AuditLog, EndsATornSquidLine) {
  write_file(log_path_, "1794819600.000    842 10.200.0.2 TCP_TU");
  const auto log = open_log({.format = Format::squid});
  EXPECT_EQ(write(*log, {close_record(1)}, Format::squid), 1u);
  const auto lines = lines_of(log_path_);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "1794819600.000    842 10.200.0.2 TCP_TU");
}

TEST_F(AuditLog, IsReadableForItsGroupOnly) {
  const auto log = open_log();
  struct stat status {};
  ASSERT_EQ(::stat(log_path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0027, 0u);
}

TEST_F(AuditLog, IsNotSharedByTwoProcesses) {
  const auto log = open_log();
  const auto second = Log::open({.path = log_path_});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message,
            log_path_ + ": process " + std::to_string(::getpid()) + " writes to this log already");
}

TEST_F(AuditLog, RefusesAFileThatIsNoAuditLog) {
  const std::string_view table[] = {
      "hello\n",
      "root:x:0:0:root:/root:/bin/bash",
      "1794819600.000    842 10.200.0.2 TCP_TUNNEL/200 16464 CONNECT a:443 - HIER_NONE/- -\n",
      std::string_view{"\0\0\0\0", 4},
      "\n",
  };
  for (const std::string_view content : table) {
    write_file(log_path_, content);
    const auto log = Log::open({.path = log_path_});
    ASSERT_FALSE(log) << content;
    EXPECT_NE(log.error().message.find(log_path_), std::string::npos);
    EXPECT_EQ(read_file(log_path_), content);
  }
}

TEST_F(AuditLog, GivesUpBehindMoreGarbageThanItReads) {
  {
    const auto log = open_log();
    EXPECT_EQ(write(*log, {deny_record("a.example")}), 1u);
  }
  append_file(log_path_, std::string(17 << 20, '\0'));
  EXPECT_FALSE(Log::open({.path = log_path_}));
}

TEST_F(AuditLog, SaysWhyItCannotBeOpened) {
  const auto log = Log::open({.path = path("missing/audit.jsonl")});
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().message, path("missing/audit.jsonl") + ": No such file or directory");
}

TEST_F(AuditLog, GoesOnBehindGarbageAndVerifyNamesIt) {
  {
    const auto log = open_log();
    EXPECT_EQ(write(*log, {deny_record("a.example")}), 1u);
  }
  append_file(log_path_, "somebody was here\n");
  {
    const auto log = open_log();
    EXPECT_EQ(write(*log, {deny_record("b.example")}), 1u);
    EXPECT_EQ(log->gaps(), 1u);
  }
  EXPECT_EQ(lines_of(log_path_).size(), 4u);  // with the audit-gap that names the garbage's hash
  const Verified verified = verify_files({log_path_});
  EXPECT_EQ(verified.status, 1);
  EXPECT_EQ(verified.err, log_path_ + ":2: is not an audit line\n");
}

TEST_F(AuditLog, GoesOnFromTheRememberedHeadIfLinesAreGone) {
  Log::Head head;
  {
    const auto log = open_log();
    EXPECT_EQ(write(*log, {deny_record("a.example"), deny_record("b.example")}), 2u);
    head = log->head();
  }
  const auto lines = lines_of(log_path_);
  write_file(log_path_, lines[0] + "\n");
  {
    const auto log = open_log({.resume = head});
    EXPECT_EQ(write(*log, {deny_record("c.example")}), 1u);
    EXPECT_EQ(log->head().seq, 3u);
  }
  EXPECT_EQ(verify_files({log_path_}).err,
            log_path_ + ":2: has seq 3 after 1: 1 line before it is missing\n");
}

TEST_F(AuditLog, DoesNotGoBackToARememberedHead) {
  Log::Head old;
  {
    const auto log = open_log();
    EXPECT_EQ(write(*log, {deny_record("a.example")}), 1u);
    old = log->head();
    EXPECT_EQ(write(*log, {deny_record("b.example")}), 1u);
  }
  const auto log = open_log({.resume = old});
  EXPECT_EQ(write(*log, {deny_record("c.example")}), 1u);
  EXPECT_EQ(verify_files({log_path_}).status, 0);
}

TEST_F(AuditLog, TapSeesTheLinesAsTheyStandInTheFile) {
  std::string seen;
  {
    const auto log = open_log();
    log->set_tap([&seen](std::string_view lines) { seen += lines; });
    EXPECT_EQ(write(*log, {open_record(1), close_record(1)}), 2u);
    EXPECT_EQ(write(*log, {deny_record("a.example")}), 1u);
  }
  EXPECT_EQ(seen, read_file(log_path_));
}

TEST_F(AuditLog, FollowsASymbolicLink) {
  std::filesystem::create_symlink(path("elsewhere.jsonl"), log_path_);
  const auto log = open_log();
  EXPECT_EQ(write(*log, {deny_record("a.example")}), 1u);
  EXPECT_EQ(lines_of(path("elsewhere.jsonl")).size(), 1u);
}

}  // namespace
}  // namespace stile::audit
