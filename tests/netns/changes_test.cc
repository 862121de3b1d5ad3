// Files that a task changed, beneath a directory in which the task may have put anything.
#include "netns/changes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/unique_fd.h"

namespace stile::netns {
namespace {

namespace fs = std::filesystem;

class Changes : public ::testing::Test {
 protected:
  Changes() {
    std::string pattern = fs::temp_directory_path() / "stile-changes-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
    fs::create_directory(path_ / "top");
    top_ = UniqueFd{::open((path_ / "top").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  }
  ~Changes() override {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  void write(const std::string& name, const std::string& text = "x") {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream{path_ / name} << text;
  }
  // A moment after everything that was written so far. A file may already have the time of the next
  // tick when the clock of programs does not show it yet, so this takes the tick after that.
  static timespec next_tick() {
    auto now = file_clock();
    for (int ticks = 0; ticks < 2; ++ticks) {
      const auto before = now;
      while (now.tv_sec == before.tv_sec && now.tv_nsec == before.tv_nsec) now = file_clock();
    }
    return now;
  }
  [[nodiscard]] std::vector<std::string> names(const timespec& since) const {
    std::vector<std::string> found;
    for (const auto& file : changed_since(top_.get(), since, ::geteuid()).files) {
      found.push_back(file.name);
    }
    return found;
  }

  fs::path path_;
  UniqueFd top_;
};

using Names = std::vector<std::string>;

TEST_F(Changes, AreFoundInAllDirectoriesSortedByName) {
  write("top/old");
  write("top/d/e/changed", "before");
  const auto since = next_tick();
  write("top/d/e/changed", "afterwards");
  write("top/new");
  fs::create_directory(path_ / "top/empty");
  EXPECT_EQ(names(since), (Names{"d/e/changed", "new"}));
  const auto changed = changed_since(top_.get(), since, ::geteuid());
  EXPECT_EQ(changed.files[0].size, 10U);
  EXPECT_FALSE(changed.is_cut);
}

TEST_F(Changes, CannotBeHiddenByAFalseTime) {
  write("top/a");
  const auto since = next_tick();
  write("top/a", "y");
  const timespec past[]{{1, 0}, {1, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (path_ / "top/a").c_str(), past, 0), 0);
  EXPECT_EQ(names(since), (Names{"a"}));
}

TEST_F(Changes, DoNotLeadOutOfTheDirectory) {
  write("outside/secret");
  write("top/inside/file");
  fs::create_directory_symlink(path_ / "outside", path_ / "top/link");
  fs::create_directory_symlink("../outside", path_ / "top/up");
  fs::create_symlink(path_ / "outside/secret", path_ / "top/file-link");
  ASSERT_EQ(::mkfifo((path_ / "top/fifo").c_str(), 0600), 0);
  EXPECT_EQ(names({}), (Names{"inside/file"}));
}

TEST_F(Changes, LeaveOutWhatGitKeeps) {
  write("top/.git/objects/aa");
  write("top/sub/.git/index");
  write("top/.gitignore");
  EXPECT_EQ(names({}), (Names{".gitignore"}));
}

TEST_F(Changes, AreBounded) {
  for (std::size_t i = 0; i <= worker::ChangedFiles::most_files; ++i) {
    write("top/" + std::to_string(i));
  }
  const auto changed = changed_since(top_.get(), {}, ::geteuid());
  EXPECT_EQ(changed.files.size(), worker::ChangedFiles::most_files);
  EXPECT_TRUE(changed.is_cut);
}

TEST_F(Changes, OfLongNamesAreBounded) {
  const std::string directory = "top/" + std::string(250, 'd') + '/';
  for (int i = 0; i < 200; ++i) write(directory + std::string(200, 'f') + std::to_string(i));
  std::size_t bytes = 0;
  const auto changed = changed_since(top_.get(), {}, ::geteuid());
  for (const auto& file : changed.files) bytes += file.name.size();
  EXPECT_LE(bytes, worker::ChangedFiles::most_name_bytes);
  EXPECT_TRUE(changed.is_cut);
}

TEST_F(Changes, TooDeepToBeOpenedAreSaidToBeMissing) {
  write("top/file");
  const std::string name(200, 'd');
  UniqueFd at{::open((path_ / "top").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  for (int depth = 0; depth < 25; ++depth) {
    ASSERT_EQ(::mkdirat(at.get(), name.c_str(), 0700), 0);
    at = UniqueFd{::openat(at.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  }
  const auto changed = changed_since(top_.get(), {}, ::geteuid());
  ASSERT_EQ(changed.files.size(), 1U);
  EXPECT_EQ(changed.files[0].name, "file");
  EXPECT_TRUE(changed.is_cut);
}

TEST_F(Changes, InDirectoriesOfOthersAreNotShown) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  write("top/private/file");
  write("top/public/file");
  for (const char* name : {"private", "public"}) {
    ASSERT_EQ(::chown((path_ / "top" / name).c_str(), 4242, 4242), 0);
  }
  ASSERT_EQ(::chmod((path_ / "top/private").c_str(), 0700), 0);
  EXPECT_EQ(names({}), (Names{"public/file"}));
}

}  // namespace
}  // namespace stile::netns
