// verify: what it tells of logs that hold, and of files that it cannot read.
#include "audit/verify.h"

#include <filesystem>

#include "audit/format.h"
#include "audit/line_source.h"
#include "tests/audit/world.h"

namespace stile::audit {
namespace {

class AuditVerify : public AuditWorld {};

Record start_record() {
  Record record;
  record.event = Event::start;
  record.time_us = 1'794'819'600'000'000;
  record.version = "0.1.0";
  record.config =
      std::string_view{"5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"};
  return record;
}

TEST_F(AuditVerify, TellsWhereEverythingEnds) {
  Log::Head head;
  {
    const auto log = open_log();
    EXPECT_EQ(write(*log, {start_record(), open_record(1), close_record(1)}), 3u);
    head = log->head();
  }
  const Verified verified = verify_files({log_path_}, head.hash);
  EXPECT_EQ(verified.status, 0);
  EXPECT_EQ(verified.err, "");
  EXPECT_EQ(verified.out,
            "OK: 3 lines in 1 file, chain intact, 0 gaps, 0 unclosed connections\nhead: 3 " +
                head.hash + "\n");
}

TEST_F(AuditVerify, TellsOfOpenEndsOverRestarts) {
  {
    const auto log = open_log();
    EXPECT_EQ(write(*log, {start_record(), open_record(1), open_record(2), close_record(1)}), 4u);
  }
  {
    const auto log = open_log();
    EXPECT_EQ(write(*log, {start_record(), open_record(2), close_record(2), open_record(7)}), 4u);
  }
  const Verified verified = verify_files({log_path_});
  EXPECT_EQ(verified.status, 0) << verified.err;
  EXPECT_TRUE(verified.out.starts_with(
      log_path_ + ":3: unclosed connection: alpha api.github.com:443\n" + log_path_ +
      ":8: unclosed connection: alpha api.github.com:443\n"
      "OK: 8 lines in 1 file, chain intact, 0 gaps, 2 unclosed connections\n"))
      << verified.out;
}

TEST_F(AuditVerify, ListsOnlySomeOfManyOpenEnds) {
  {
    const auto log = open_log();
    std::vector<Record> records;
    for (std::uint64_t conn = 1; conn <= 100; ++conn) records.push_back(open_record(conn));
    EXPECT_EQ(write(*log, records), 100u);
  }
  const Verified verified = verify_files({log_path_});
  EXPECT_EQ(verified.status, 0) << verified.err;
  EXPECT_NE(verified.out.find("and 80 more unclosed connections\n"), std::string::npos)
      << verified.out;
  EXPECT_NE(verified.out.find("100 unclosed connections\n"), std::string::npos);
}

TEST_F(AuditVerify, TakesAHeadThatTheLogHasOutgrown) {
  const auto log = open_log();
  EXPECT_EQ(write(*log, {open_record(1)}), 1u);
  const Log::Head head = log->head();
  EXPECT_EQ(write(*log, {close_record(1)}), 1u);
  EXPECT_EQ(verify_files({log_path_}, head.hash).status, 0);
}

TEST_F(AuditVerify, SaysThatFilesComeOldestFirst) {
  {
    const auto log = open_log({.max_bytes = 600});
    EXPECT_EQ(write(*log, {open_record(1)}), 1u);
    EXPECT_EQ(write(*log, {open_record(2)}), 1u);
  }
  const std::string old = log_path_ + ".1";
  EXPECT_EQ(verify_files({old, log_path_}).status, 0);
  EXPECT_EQ(
      verify_files({log_path_, old}).err,
      old + ":1: has seq 1 after 2: another chain, or the files are not given oldest first\n");
}

TEST_F(AuditVerify, NamesAFileThatIsMissingInBetween) {
  {
    const auto log = open_log({.max_bytes = 600});
    for (std::uint64_t conn = 1; conn <= 3; ++conn) EXPECT_EQ(write(*log, {open_record(conn)}), 1u);
  }
  EXPECT_EQ(verify_files({log_path_ + ".2", log_path_}).err,
            log_path_ + ":1: has seq 3 after 1: 1 line before it is missing\n");
}

TEST_F(AuditVerify, SaysThatALogWithoutAChainProvesNothing) {
  {
    const auto log = open_log({.chain = false});
    EXPECT_EQ(write(*log, {open_record(1)}), 1u);
  }
  EXPECT_EQ(verify_files({log_path_}).err,
            log_path_ +
                ":1: carries no hash of the line before: the log was written with chain = false\n");
}

TEST_F(AuditVerify, AcceptsAnEmptyLog) {
  write_file(log_path_, "");
  const Verified verified = verify_files({log_path_});
  EXPECT_EQ(verified.status, 0);
  EXPECT_TRUE(verified.out.starts_with("OK: 0 lines in 1 file"));
}

TEST_F(AuditVerify, SaysWhichFileCannotBeRead) {
  EXPECT_EQ(verify_files({path("missing")}).err,
            "cannot read " + path("missing") + ": No such file or directory\n");
  EXPECT_EQ(verify_files({folder_}).err, "cannot read " + folder_ + ": Is a directory\n");
  EXPECT_EQ(verify_files({folder_}).status, 1);
}

TEST_F(AuditVerify, TakesGarbageOfAnyKindForWhatItIs) {
  const std::pair<std::string, std::string> table[] = {
      {"\n\n\n", ":1: is damaged, and no audit-gap line after it says so\n"},
      {std::string(1000, '\0'), ":1: is not an audit line\n"},
      {std::string(1'000'000, '{'), ":1: is longer than any audit line\n"},
      {std::string(10, '\n') + "{}\n", ":1: is damaged, and no audit-gap line after it says so\n"},
      {"\xff\xfe", ":1: is not an audit line\n"},
  };
  for (const auto& [content, expected] : table) {
    write_file(log_path_, content);
    EXPECT_EQ(verify_files({log_path_}).err, log_path_ + expected);
  }
}

TEST_F(AuditVerify, ReadsLinesAtEveryPlaceInItsBuffer) {
  std::string text;
  for (std::size_t length = 0; length < 2000; ++length) text += std::string(length, 'x') + "\n";
  write_file(log_path_, text + "end");
  auto source = LineSource::open(log_path_);
  ASSERT_TRUE(source);
  for (std::size_t length = 0; length < 2000; ++length) {
    ASSERT_TRUE(source->next());
    ASSERT_EQ(source->line(), std::string(length, 'x'));
    ASSERT_EQ(source->number(), length + 1);
    ASSERT_TRUE(source->has_newline());
  }
  ASSERT_TRUE(source->next());
  EXPECT_EQ(source->line(), "end");
  EXPECT_FALSE(source->has_newline());
  EXPECT_FALSE(source->next());
}

TEST_F(AuditVerify, CutsALineThatIsTooLongIntoPiecesOfOneNumber) {
  const std::string longest(max_line_bytes, 'a');
  write_file(log_path_, longest + "\n" + longest + "bc\nd\n");
  auto source = LineSource::open(log_path_);
  ASSERT_TRUE(source);
  struct Piece {
    std::string line;
    std::uint64_t number;
    bool has_newline;
  };
  const Piece table[] = {
      {longest, 1, true}, {longest + "b", 2, false}, {"c", 2, true}, {"d", 3, true}};
  for (const Piece& piece : table) {
    ASSERT_TRUE(source->next());
    EXPECT_EQ(source->line(), piece.line);
    EXPECT_EQ(source->number(), piece.number);
    EXPECT_EQ(source->has_newline(), piece.has_newline);
  }
  EXPECT_FALSE(source->next());
}

}  // namespace
}  // namespace stile::audit
