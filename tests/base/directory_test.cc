// Directories: their entries, and opening without following links.
#include "base/directory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/openat2.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace stile {
namespace {

class Directory : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(path_ + "/inner");
    std::ofstream{path_ + "/.hidden"} << "x";
    std::filesystem::create_symlink(path_, path_ + "/link");
    fd_ = UniqueFd{::open(path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  }
  void TearDown() override { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::set<std::string> names() const {
    std::set<std::string> all;
    auto entries = DirectoryStream::of(fd_.get());
    while (const dirent* entry = entries.next()) all.insert(entry->d_name);
    EXPECT_EQ(errno, 0);
    return all;
  }
  std::string path_ = ::testing::TempDir() + "directory_test." + std::to_string(::getpid());
  UniqueFd fd_;
};

TEST_F(Directory, ListsEveryEntryEachTime) {
  const std::set<std::string> expected{".hidden", "inner", "link"};
  EXPECT_EQ(names(), expected);
  EXPECT_EQ(names(), expected);
}

TEST_F(Directory, CannotListAFileOrNothing) {
  EXPECT_FALSE(DirectoryStream{UniqueFd{}});
  EXPECT_FALSE(DirectoryStream{UniqueFd{::open((path_ + "/.hidden").c_str(), O_RDONLY)}});
}

TEST_F(Directory, OpensOnlyWhatTheFlagsAllow) {
  EXPECT_TRUE(open_resolved(fd_.get(), "inner", O_RDONLY, RESOLVE_BENEATH));
  EXPECT_FALSE(open_resolved(fd_.get(), "..", O_RDONLY, RESOLVE_BENEATH));
  EXPECT_EQ(errno, EXDEV);
  EXPECT_FALSE(open_resolved(fd_.get(), "link", O_RDONLY, RESOLVE_NO_SYMLINKS));
  EXPECT_EQ(errno, ELOOP);
}

}  // namespace
}  // namespace stile
