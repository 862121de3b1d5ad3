// Tampering: verify names the line that was touched.
#include "audit/line.h"
#include "tests/audit/world.h"

namespace stile::audit {
namespace {

class AuditTampering : public AuditWorld {
 protected:
  AuditTampering() {
    const auto log = open_log();
    for (std::uint64_t conn = 1; conn <= 6; ++conn) {
      EXPECT_EQ(write(*log, {open_record(conn)}), 1u);
    }
    head_ = log->head();
    lines_ = lines_of(log_path_);
  }

  // What verify says of these lines, without the name of the file.
  [[nodiscard]] std::string verdict(const std::vector<std::string>& lines, std::string head = {}) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    write_file(log_path_, text);
    const Verified verified = verify_files({log_path_}, std::move(head));
    EXPECT_EQ(verified.status, verified.err.empty() ? 0 : 1);
    const bool names_file = verified.err.starts_with(log_path_);
    return names_file ? verified.err.substr(log_path_.size()) : verified.err;
  }

  Log::Head head_;
  std::vector<std::string> lines_;
};

TEST_F(AuditTampering, IsNotSeenWhereThereIsNone) {
  EXPECT_EQ(verdict(lines_), "");
  EXPECT_EQ(verdict(lines_, head_.hash), "");
}

TEST_F(AuditTampering, WithAnyByteOfALineNamesThatLine) {
  const std::string original = lines_[2];
  for (std::size_t at = 0; at < original.size(); ++at) {
    SCOPED_TRACE(at);
    lines_[2] = original;
    lines_[2][at] = lines_[2][at] == '7' ? '8' : '7';
    EXPECT_TRUE(verdict(lines_).starts_with(":3: ")) << verdict(lines_);
  }
}

TEST_F(AuditTampering, WithAFieldNamesThatLine) {
  const std::size_t at = lines_[2].find("api.github.com");
  lines_[2].replace(at, 3, "ipa");
  EXPECT_EQ(verdict(lines_), ":3: was changed: its hash is not the one that the next line names\n");
}

TEST_F(AuditTampering, WithALinkNamesThatLine) {
  const std::size_t at = lines_[2].find("\"prev\":\"") + 8;
  lines_[2][at] = lines_[2][at] == '0' ? '1' : '0';
  EXPECT_EQ(verdict(lines_),
            ":3: was changed or put in: it fits neither the line before nor the next one\n");
}

TEST_F(AuditTampering, WithTheLastLineIsSeenByTheHead) {
  const std::size_t at = lines_[5].find("api.github.com");
  lines_[5].replace(at, 3, "ipa");
  EXPECT_EQ(verdict(lines_), "");
  EXPECT_EQ(verdict(lines_, head_.hash), "no line has the hash " + head_.hash +
                                             ": the end of the log is missing, or the log was "
                                             "rewritten\n");
}

TEST_F(AuditTampering, ByCuttingTheEndIsSeenByTheHead) {
  lines_.pop_back();
  EXPECT_EQ(verdict(lines_), "");
  EXPECT_NE(verdict(lines_, head_.hash), "");
}

TEST_F(AuditTampering, ByDeletingALineNamesTheNext) {
  lines_.erase(lines_.begin() + 2);
  EXPECT_EQ(verdict(lines_), ":3: has seq 4 after 2: 1 line before it is missing\n");
}

TEST_F(AuditTampering, BySwappingTwoLinesNamesTheFirst) {
  std::swap(lines_[2], lines_[3]);
  EXPECT_EQ(verdict(lines_), ":3: has seq 4 after 2: 1 line before it is missing\n");
}

TEST_F(AuditTampering, ByRepeatingALineNamesTheSecond) {
  lines_.insert(lines_.begin() + 3, lines_[2]);
  EXPECT_EQ(verdict(lines_), ":4: has seq 3 after 3: it was put in or moved\n");
}

TEST_F(AuditTampering, ByPuttingALineInNamesIt) {
  std::string forged = lines_[2];
  forged.replace(forged.find("\"seq\":3"), 7, "\"seq\":4");
  lines_.insert(lines_.begin() + 3, forged);
  EXPECT_EQ(verdict(lines_),
            ":4: was changed or put in: it fits neither the line before nor the next one\n");
}

TEST_F(AuditTampering, ByPuttingALineInThatFitsItsLineBeforeNamesTheNext) {
  std::string forged = lines_[3];
  forged.replace(forged.find("api.github.com"), 3, "ipa");
  lines_.insert(lines_.begin() + 3, forged);
  EXPECT_EQ(verdict(lines_), ":5: has seq 4 after 4: it was put in or moved\n");
}

TEST_F(AuditTampering, ByPuttingSomethingElseInNamesIt) {
  lines_.insert(lines_.begin() + 3, "# all is well");
  EXPECT_EQ(verdict(lines_), ":4: is not an audit line\n");
  lines_[3] = "";
  EXPECT_EQ(verdict(lines_),
            ":4: is damaged, and the next line is not an audit-gap that names it\n");
}

TEST_F(AuditTampering, ByStartingTheChainAnewNamesThePlace) {
  std::string first = lines_[0];
  lines_.push_back(first);
  EXPECT_EQ(verdict(lines_), ":7: has seq 1 after 6: a new chain begins here\n");
}

TEST_F(AuditTampering, OfTheBeginningIsSeen) {
  const std::string first = lines_[0];
  lines_[0].replace(lines_[0].find("\"seq\":1"), 7, "\"seq\":2");
  EXPECT_EQ(verdict(lines_), ":1: names no line before it, but its seq is not 1\n");
  lines_[0] = first;
  lines_[0].replace(lines_[0].find(std::string(64, '0')), 1, "1");
  EXPECT_EQ(verdict(lines_), ":1: has seq 1 but names a line before it\n");
}

TEST_F(AuditTampering, ByMakingALineTornIsNotExcusedByAnotherGap) {
  lines_[2].resize(lines_[2].size() - 1);
  EXPECT_EQ(verdict(lines_),
            ":3: is damaged, and the next line is not an audit-gap that names it\n");
}

}  // namespace
}  // namespace stile::audit
