// Torn lines: after a crash at any byte the log goes on, and says what is missing.
#include "audit/torn.h"

#include "audit/line.h"
#include "tests/audit/world.h"

namespace stile::audit {
namespace {

class AuditTornLine : public AuditWorld {
 protected:
  // Three lines, and the offset at which the last one begins.
  std::size_t write_three() {
    const auto log = open_log();
    EXPECT_EQ(write(*log, {deny_record("a.example"), deny_record("b.example")}), 2u);
    const std::size_t begin = read_file(log_path_).size();
    EXPECT_EQ(write(*log, {deny_record("a\"\\\n\xff.example")}), 1u);
    return begin;
  }
};

TEST_F(AuditTornLine, AtEveryByteIsEndedAndNamed) {
  const std::size_t begin = write_three();
  const std::string whole = read_file(log_path_);
  for (std::size_t size = begin; size < whole.size(); ++size) {
    SCOPED_TRACE(size);
    write_file(log_path_, whole.substr(0, size));
    {
      const auto log = open_log();
      EXPECT_EQ(log->gaps(), size == begin ? 0u : 1u);
      EXPECT_EQ(write(*log, {deny_record("c.example")}), 1u);
    }
    const std::string after = read_file(log_path_);
    ASSERT_TRUE(after.starts_with(whole.substr(0, size)));  // nothing is taken back
    const Verified verified = verify_files({log_path_});
    ASSERT_EQ(verified.status, 0) << verified.err << after;
    const bool has_gap = verified.out.find(":4: gap: a torn line before it\n") != std::string::npos;
    EXPECT_EQ(has_gap, size > begin) << verified.out;
  }
}

TEST_F(AuditTornLine, GapNamesTheHashOfItsBytes) {
  write_three();
  append_file(log_path_, R"({"ts":"2026)");
  const auto log = open_log();
  const auto lines = lines_of(log_path_);
  ASSERT_EQ(lines.size(), 5u);
  Line line;
  ASSERT_EQ(read_line(lines[4], line), LineKind::whole);
  EXPECT_EQ(line.raw(Key::event), "audit-gap");
  EXPECT_EQ(line.raw(Key::torn), hash_text(Sha256{}.hash(R"({"ts":"2026)")));
  EXPECT_EQ(line.raw(Key::prev), hash_text(Sha256{}.hash(lines[2])));
  EXPECT_EQ(line.number(Key::seq), 4u);
}

// The audit-gap is torn as well, again and again; every second cut falls right behind a newline.
TEST_F(AuditTornLine, AtEveryByteOfItsOwnGapIsNamedByTheNext) {
  write_three();
  append_file(log_path_, R"({"ts":"2026)");
  const std::string torn = read_file(log_path_);
  { const auto log = open_log(); }
  const std::string named = read_file(log_path_);
  for (std::size_t size = torn.size(); size < named.size(); ++size) {
    SCOPED_TRACE(size);
    write_file(log_path_, named.substr(0, size));
    { const auto log = open_log(); }
    const Verified verified = verify_files({log_path_});
    ASSERT_EQ(verified.status, 0) << verified.err;
    EXPECT_NE(verified.out.find("gap: a torn line before it"), std::string::npos);
  }
}

TEST_F(AuditTornLine, AsTheFirstOfALogIsNamed) {
  write_three();
  const std::string first = lines_of(log_path_)[0];
  for (std::size_t size = 1; size <= first.size(); ++size) {
    SCOPED_TRACE(size);
    write_file(log_path_, first.substr(0, size));
    {
      const auto log = open_log();
      EXPECT_EQ(write(*log, {deny_record("c.example")}), 1u);
    }
    EXPECT_EQ(verify_files({log_path_}).status, 0);
  }
}

TEST_F(AuditTornLine, AtTheEndOfARotatedFileIsNamedInTheNext) {
  const std::size_t begin = write_three();
  const std::string whole = read_file(log_path_);
  for (std::size_t size = begin + 1; size < whole.size(); ++size) {
    SCOPED_TRACE(size);
    write_file(path("audit.jsonl.1"), whole.substr(0, size));
    write_file(log_path_, "");
    {
      const auto log = open_log();
      EXPECT_EQ(write(*log, {deny_record("c.example")}), 1u);
    }
    EXPECT_EQ(read_file(path("audit.jsonl.1")).size(), size);
    const Verified verified = verify_files({path("audit.jsonl.1"), log_path_});
    ASSERT_EQ(verified.status, 0) << verified.err;
    EXPECT_NE(verified.out.find("audit.jsonl:1: gap: a torn line before it"), std::string::npos);
  }
}

TEST_F(AuditTornLine, IsForeignOnceItsGapIsGone) {
  write_three();
  append_file(log_path_, "{\"ts\":\"2026\n");
  EXPECT_EQ(verify_files({log_path_}).err,
            log_path_ + ":4: is damaged, and no audit-gap line after it says so\n");
}

TEST_F(AuditTornLine, AtTheVeryEndIsToldAndHolds) {  // of a daemon that was killed, or is writing
  write_three();
  append_file(log_path_, "{\"ts\":\"2026");
  const Verified verified = verify_files({log_path_});
  EXPECT_EQ(verified.status, 0) << verified.err;
  EXPECT_NE(verified.out.find(":4: the last line is torn"), std::string::npos);
}

TEST(Torn, HashesAllPiecesButTheLastNewline) {
  Torn torn;
  EXPECT_FALSE(torn.present());
  torn.add("ab");
  EXPECT_TRUE(torn.needs_newline());
  EXPECT_EQ(hash_text(torn.hash()), hash_text(Sha256{}.hash("ab")));
  torn.add("\n");
  EXPECT_FALSE(torn.needs_newline());
  EXPECT_EQ(hash_text(torn.hash()), hash_text(Sha256{}.hash("ab")));
  torn.add("c");
  EXPECT_EQ(hash_text(torn.hash()), hash_text(Sha256{}.hash("ab\nc")));
  torn.add("\nd\n");
  EXPECT_EQ(hash_text(torn.hash()), hash_text(Sha256{}.hash("ab\nc\nd")));
  torn.clear();
  EXPECT_FALSE(torn.present());
  torn.add("x");
  EXPECT_EQ(hash_text(torn.hash()), hash_text(Sha256{}.hash("x")));
}

TEST(Torn, TakesALineThatGotItsNewlineForWhole) {
  Torn torn;
  const HexHash line = Sha256{}.hash("line");
  torn.set_unended_line(line);
  EXPECT_TRUE(torn.needs_newline());
  EXPECT_EQ(hash_text(torn.hash()), hash_text(line));
  torn.add("\n");
  EXPECT_FALSE(torn.present());
  torn.set_unended_line(line);
  torn.add("\nab");
  EXPECT_EQ(hash_text(torn.hash()), hash_text(Sha256{}.hash("ab")));
}

}  // namespace
}  // namespace stile::audit
