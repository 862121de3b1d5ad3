// Rotation: by size, and by others who rename the file.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/audit/world.h"

namespace stile::audit {
namespace {

class AuditRotation : public AuditWorld {
 protected:
  [[nodiscard]] std::string rotated(int number) const {
    return log_path_ + "." + std::to_string(number);
  }
  // All that are there, oldest first.
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> found;
    for (int number = 100; number > 0; --number) {
      if (std::filesystem::exists(rotated(number))) found.push_back(rotated(number));
    }
    found.push_back(log_path_);
    return found;
  }
};

TEST_F(AuditRotation, BySizeKeepsTheChainAndTheBound) {
  {
    const auto log = open_log({.max_bytes = 4096, .keep = 100});
    for (std::uint64_t conn = 1; conn <= 100; ++conn) {
      EXPECT_EQ(write(*log, {open_record(conn), close_record(conn)}), 2u);
    }
  }
  EXPECT_GT(files().size(), 10u);
  for (const std::string& file : files()) EXPECT_LE(read_file(file).size(), 4096u) << file;
  const Verified verified = verify_files(files());
  EXPECT_EQ(verified.status, 0) << verified.err;
  EXPECT_NE(verified.out.find("OK: 200 lines"), std::string::npos) << verified.out;
}

TEST_F(AuditRotation, BySizeKeepsOnlySoManyFiles) {
  const auto log = open_log({.max_bytes = 1024, .keep = 3});
  for (std::uint64_t conn = 1; conn <= 50; ++conn) EXPECT_EQ(write(*log, {open_record(conn)}), 1u);
  EXPECT_EQ(files().size(), 4u);
  const Verified verified = verify_files(files());
  EXPECT_EQ(verified.status, 0) << verified.err;
  EXPECT_NE(verified.out.find("what came before is not in these files"), std::string::npos);
}

TEST_F(AuditRotation, ClosesAHoleInTheNumbersFirst) {
  write_file(rotated(1), "one");
  write_file(rotated(3), "three");
  const auto log = open_log({.format = Format::squid, .max_bytes = 10, .keep = 5});
  EXPECT_EQ(write(*log, {close_record(1)}, Format::squid), 1u);
  EXPECT_EQ(write(*log, {close_record(2)}, Format::squid), 1u);
  EXPECT_EQ(read_file(rotated(2)), "one");
  EXPECT_EQ(read_file(rotated(3)), "three");
  EXPECT_EQ(lines_of(rotated(1)).size(), 1u);
}

TEST_F(AuditRotation, TellsTheHeadOfTheFileThatItClosed) {
  const auto log = open_log({.max_bytes = 600});
  std::vector<std::string> heads;
  log->set_on_rotate([&heads](const std::string& file, const Log::Head& head) {
    heads.push_back(head.hash);
    EXPECT_EQ(verify_files({file}, head.hash).status, 0);
  });
  for (std::uint64_t conn = 1; conn <= 5; ++conn) EXPECT_EQ(write(*log, {open_record(conn)}), 1u);
  EXPECT_EQ(heads.size(), 4u);
}

TEST_F(AuditRotation, GoesOnFromTheRotatedFileAfterARestart) {
  for (int run = 0; run < 3; ++run) {
    {
      const auto log = open_log();
      EXPECT_EQ(write(*log, {deny_record("a.example")}), 1u);
    }
    if (run == 0) std::filesystem::rename(log_path_, rotated(1));
    if (run == 1) {
      std::filesystem::rename(rotated(1), rotated(2));
      std::filesystem::rename(log_path_, rotated(1));
      write_file(log_path_, "");  // as logrotate's `create` does
    }
  }
  const Verified verified = verify_files(files());
  EXPECT_EQ(verified.status, 0) << verified.err;
  EXPECT_NE(verified.out.find("OK: 3 lines in 3 files"), std::string::npos) << verified.out;
}

TEST_F(AuditRotation, SurvivesACrashBetweenItsSteps) {
  {
    const auto log = open_log({.max_bytes = 600});
    EXPECT_EQ(write(*log, {open_record(1)}), 1u);
  }
  // After the log was renamed and before the new one has its name.
  std::filesystem::rename(log_path_, rotated(1));
  write_file(log_path_ + ".new", "");
  {
    const auto log = open_log({.max_bytes = 600});
    EXPECT_EQ(write(*log, {open_record(2)}), 1u);
    EXPECT_EQ(write(*log, {open_record(3)}), 1u);
  }
  EXPECT_EQ(verify_files(files()).status, 0);
  EXPECT_FALSE(std::filesystem::exists(log_path_ + ".new"));
}

TEST_F(AuditRotation, ThatFailsLeavesTheLogWhereItIs) {
  const auto log = open_log({.max_bytes = 600, .keep = 1});
  std::filesystem::create_directory(rotated(1));  // cannot be replaced by a file
  for (std::uint64_t conn = 1; conn <= 5; ++conn) EXPECT_EQ(write(*log, {open_record(conn)}), 1u);
  EXPECT_TRUE(log->healthy());
  EXPECT_NE(log->problem().find("cannot rename"), std::string::npos);
  EXPECT_EQ(lines_of(log_path_).size(), 5u);
  EXPECT_EQ(verify_files({log_path_}).status, 0);
  std::filesystem::remove(rotated(1));
}

TEST_F(AuditRotation, BySizeRefusesASymbolicLink) {
  std::filesystem::create_symlink(path("elsewhere"), log_path_);
  EXPECT_FALSE(Log::open({.path = log_path_, .max_bytes = 1000}));
}

TEST_F(AuditRotation, ByRenameGoesOnInTheNewFileOnlyAfterReopen) {
  const auto log = open_log();
  EXPECT_EQ(write(*log, {open_record(1)}), 1u);
  std::filesystem::rename(log_path_, rotated(1));
  EXPECT_EQ(write(*log, {close_record(1)}), 1u);
  const auto left = log->reopen();
  ASSERT_TRUE(left);
  EXPECT_EQ(left->seq, 2u);
  EXPECT_EQ(left->hash, log->head().hash);
  EXPECT_EQ(write(*log, {open_record(2), close_record(2)}), 2u);
  EXPECT_EQ(lines_of(rotated(1)).size(), 2u);
  EXPECT_EQ(lines_of(log_path_).size(), 2u);
  EXPECT_EQ(verify_files(files()).status, 0);
  EXPECT_EQ(verify_files({rotated(1)}, left->hash).status, 0);
}

TEST_F(AuditRotation, ReopenWithoutARenameChangesNothing) {
  const auto log = open_log();
  EXPECT_EQ(write(*log, {open_record(1)}), 1u);
  EXPECT_TRUE(log->reopen());
  EXPECT_EQ(write(*log, {close_record(1)}), 1u);
  EXPECT_EQ(verify_files({log_path_}).status, 0);
}

TEST_F(AuditRotation, ReopenStaysInTheOldFileIfTheNewOneIsInUse) {
  const auto log = open_log();
  EXPECT_EQ(write(*log, {open_record(1)}), 1u);
  std::filesystem::rename(log_path_, rotated(1));
  write_file(log_path_, "not empty\n");
  EXPECT_FALSE(log->reopen());
  std::filesystem::remove(log_path_);
  std::filesystem::create_directory(log_path_);
  EXPECT_FALSE(log->reopen());
  EXPECT_EQ(write(*log, {close_record(1)}), 1u);
  EXPECT_EQ(lines_of(rotated(1)).size(), 2u);
  std::filesystem::remove(log_path_);
}

TEST_F(AuditRotation, ByCopyAndTruncateGoesOn) {
  const auto log = open_log();
  EXPECT_EQ(write(*log, {open_record(1)}), 1u);
  std::filesystem::copy_file(log_path_, rotated(1));
  std::filesystem::resize_file(log_path_, 0);
  EXPECT_EQ(write(*log, {close_record(1)}), 1u);
  EXPECT_EQ(verify_files(files()).status, 0);
}

}  // namespace
}  // namespace stile::audit
