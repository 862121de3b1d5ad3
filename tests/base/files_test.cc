// Files that are read with a limit and replaced in one step.
#include "base/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "base/unique_fd.h"

namespace stile {
namespace {

class Files : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "files_XXXXXX";
    ASSERT_NE(::mkdtemp(path_.data()), nullptr);
    directory_.reset(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(path_); }
  [[nodiscard]] int directory() const { return directory_.get(); }

  std::string path_;
  UniqueFd directory_;
};

TEST_F(Files, AReplacedFileHasTheNewTextAndMode) {
  ASSERT_TRUE(replace_file(directory(), "a", "one"));
  ASSERT_TRUE(replace_file(directory(), "a", "two", 0640, FileOwner{::getuid(), ::getgid()}));
  EXPECT_EQ(read_file(directory(), "a")->value(), "two");
  struct stat status {};
  ASSERT_EQ(::fstatat(directory(), "a", &status, 0), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0640U);
  EXPECT_EQ(*names_in(directory()), std::vector<std::string>{"a"});
}

TEST_F(Files, ALinkIsReplacedNotFollowed) {
  ASSERT_TRUE(replace_file(directory(), "target", "kept"));
  ASSERT_EQ(::symlinkat("target", directory(), "a"), 0);
  EXPECT_FALSE(read_file(directory(), "a"));
  ASSERT_TRUE(replace_file(directory(), "a", "new"));
  EXPECT_EQ(read_file(directory(), "target")->value(), "kept");
  EXPECT_EQ(read_file(directory(), "a")->value(), "new");
}

TEST_F(Files, TheOldTextStaysIfTheNewOneCannotBeWritten) {
  ASSERT_TRUE(replace_file(directory(), "a", "old"));
  ASSERT_EQ(::mkdirat(directory(), ".a.new", 0700), 0);
  EXPECT_FALSE(replace_file(directory(), "a", "new"));
  EXPECT_EQ(read_file(directory(), "a")->value(), "old");
}

TEST_F(Files, ReadsUpToTheLimit) {
  ASSERT_TRUE(replace_file(directory(), "a", "12345"));
  EXPECT_EQ(read_file(directory(), "a", 5)->value(), "12345");
  EXPECT_FALSE(read_file(directory(), "a", 4));
}

TEST_F(Files, AMissingFileIsNoError) {
  EXPECT_EQ(*read_file(directory(), "a"), std::nullopt);
  EXPECT_FALSE(*remove_file(directory(), "a"));
  EXPECT_EQ(read_or_empty(path_ + "/a"), "");
}

TEST_F(Files, AFileOfTheKernelHasNoSizeBeforeItIsRead) {
  EXPECT_EQ(read_or_empty("/proc/self/comm").back(), '\n');
  const UniqueFd proc{::open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  EXPECT_TRUE(read_file(proc.get(), "status")->value().starts_with("Name:"));
}

}  // namespace
}  // namespace stile
