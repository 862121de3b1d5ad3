// Which process -k finds by a pid file, whatever the file says.
#include "squid/pid_file.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "squid/running_copy.h"

namespace stile::squid {
namespace {

using std::chrono::seconds;

class SquidPidFile : public testing::Test {
 protected:
  SquidPidFile() { std::filesystem::create_directory(folder_); }
  ~SquidPidFile() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] Result<RunningCopy> find() const { return RunningCopy::find(path_, "root"); }

  std::string folder_ = testing::TempDir() + "pid_file_test." + std::to_string(::getpid());
  std::string path_ = folder_ + "/squid.pid";
};

// A process of its own that holds the pid file until it is signalled: a process does not see its
// own locks.
class Copy {
 public:
  explicit Copy(const std::string& path) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      const auto file = PidFile::create(path);
      const char byte = file ? '1' : '0';
      if (::write(ends[1], &byte, 1) == 1 && file) ::pause();
      std::_Exit(0);
    }
    char byte = 0;
    EXPECT_EQ(::read(ends[0], &byte, 1), 1);
    has_started_ = byte == '1';
    ::close(ends[0]);
    ::close(ends[1]);
  }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;
  ~Copy() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool has_started() const { return has_started_; }

 private:
  pid_t pid_ = 0;
  bool has_started_ = false;
};

TEST_F(SquidPidFile, LeadsToTheProcessWhileItRuns) {
  EXPECT_FALSE(find());
  {
    const Copy copy{path_};
    const auto found = find();
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->pid(), copy.pid());
    EXPECT_TRUE(found->signal(0));
  }
  EXPECT_FALSE(find());  // the file is still there: it was killed
}

TEST_F(SquidPidFile, ReachesTheProcessWithASignal) {
  const Copy copy{path_};
  const auto found = find();
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->ends_within(seconds{0}));
  ASSERT_TRUE(found->signal(SIGTERM));
  EXPECT_TRUE(found->ends_within(seconds{30}));
}

TEST_F(SquidPidFile, IsNotBelievedWhatItSays) {
  for (const std::string& content : {std::to_string(::getppid()), std::string{"1"},
                                     std::string{"-1"}, std::string{}, std::string{"nonsense"}}) {
    std::ofstream{path_} << content;
    EXPECT_FALSE(find()) << content;
    EXPECT_TRUE(PidFile::create(path_)) << content;
  }
  const Copy copy{path_};
  std::ofstream{path_} << ::getppid();
  const auto found = find();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->pid(), copy.pid());
}

TEST_F(SquidPidFile, ASecondCopyDoesNotStart) {
  const Copy copy{path_};
  EXPECT_TRUE(copy.has_started());
  EXPECT_FALSE(Copy{path_}.has_started());
  EXPECT_TRUE(find());  // and the first one still has its file
}

TEST_F(SquidPidFile, ALinkIsNotFollowed) {
  const Copy copy{path_};
  const std::string link = folder_ + "/link";
  std::filesystem::create_symlink(path_, link);
  EXPECT_FALSE(RunningCopy::find(link, "root"));
  EXPECT_FALSE(PidFile::create(link));
  const std::string second_name = folder_ + "/other";
  std::ofstream{second_name} << "precious";
  std::filesystem::create_hard_link(second_name, folder_ + "/hard");
  EXPECT_FALSE(PidFile::create(folder_ + "/hard"));
}

TEST_F(SquidPidFile, IsNotNeeded) {
  EXPECT_TRUE(PidFile::create(""));
  EXPECT_FALSE(RunningCopy::find("", "root"));
}

}  // namespace
}  // namespace stile::squid
