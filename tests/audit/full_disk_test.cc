// A file system that is really full: a small tmpfs in a mount namespace of its own.
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "tests/audit/world.h"

namespace stile::audit {
namespace {

// A child that mounts the tmpfs over `folder` where only it sees it, and holds it until it is
// killed. Others reach it through /proc.
class SmallDisk {
 public:
  explicit SmallDisk(const std::string& folder) {
    int ready[2];
    if (::pipe(ready) != 0) return;
    child_ = ::fork();
    if (child_ == 0) {
      const bool is_mounted = ::unshare(CLONE_NEWNS) == 0 &&
                              ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                              ::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=64k") == 0;
      if (is_mounted && ::write(ready[1], "1", 1) == 1) ::pause();
      ::_exit(0);
    }
    ::close(ready[1]);
    char byte = 0;
    is_there_ = ::read(ready[0], &byte, 1) == 1;
    ::close(ready[0]);
    path_ = "/proc/" + std::to_string(child_) + "/root" + folder;
  }
  ~SmallDisk() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  [[nodiscard]] bool is_there() const noexcept { return is_there_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  pid_t child_ = -1;
  bool is_there_ = false;
  std::string path_;
};

class AuditFullDisk : public AuditWorld {};

TEST_F(AuditFullDisk, RefusesUntilThereIsSpaceAndThenHolds) {
  std::filesystem::create_directory(path("disk"));
  SmallDisk disk{path("disk")};
  if (!disk.is_there()) GTEST_SKIP() << "needs the right to mount";
  const std::string file = disk.path() + "/audit.jsonl";
  write_file(disk.path() + "/ballast", std::string(40'000, 'x'));

  const auto log = open_log({.path = file});
  std::uint64_t opened = 0;
  while (write(*log, {open_record(opened + 1)}) == 1) ++opened;
  ASSERT_GT(opened, 10u);
  EXPECT_EQ(log->problem(), "cannot write to " + file +
                                ": No space left on device; requests are refused "
                                "(audit-unavailable)");
  for (std::uint64_t conn = 1; conn <= opened; ++conn) {
    EXPECT_EQ(write(*log, {close_record(conn)}), 0u);
  }
  log->retry();
  EXPECT_FALSE(log->healthy());

  std::filesystem::remove(disk.path() + "/ballast");
  log->retry();
  EXPECT_TRUE(log->healthy());
  EXPECT_EQ(write(*log, {deny_record("a.example")}), 1u);
  const Verified verified = verify_files({file});
  EXPECT_EQ(verified.status, 0) << verified.err;
  EXPECT_NE(verified.out.find(", 1 gap, 0 unclosed connections"), std::string::npos)
      << verified.out;
}

TEST_F(AuditFullDisk, AtStartIsNoReasonNotToStart) {
  std::filesystem::create_directory(path("disk"));
  SmallDisk disk{path("disk")};
  if (!disk.is_there()) GTEST_SKIP() << "needs the right to mount";
  const std::string file = disk.path() + "/audit.jsonl";
  // Torn at the end of the one block that it has: not even the newline fits.
  const std::string begin =
      R"({"ts":"2026-11-16T09:00:00.000000Z","seq":1,"event":"deny","host":")";
  write_file(file, begin + std::string(4096 - begin.size(), 'x'));
  write_file(disk.path() + "/ballast", std::string(100'000, 'x'));

  const auto log = open_log({.path = file});
  EXPECT_FALSE(log->healthy());
  EXPECT_EQ(write(*log, {open_record(1)}), 0u);
  EXPECT_EQ(read_file(file).size(), 4096u);
  std::filesystem::remove(disk.path() + "/ballast");
  EXPECT_EQ(write(*log, {open_record(2)}), 1u);
  const Verified verified = verify_files({file});
  EXPECT_EQ(verified.status, 0) << verified.err;
  EXPECT_NE(
      verified.out.find(":2: gap: a torn line before it; 1 record of refused requests is missing"),
      std::string::npos)
      << verified.out;
}

}  // namespace
}  // namespace stile::audit
