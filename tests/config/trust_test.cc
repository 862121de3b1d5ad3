// Which files are believed.
#include "config/trust.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.h"
#include "tests/config/temp_folder.h"

namespace stile::config {
namespace {

namespace fs = std::filesystem;

class Trust : public testing::Test {
 protected:
  // The reason for a refusal without the random folder name; empty: it was believed.
  std::string refusal(const std::string& path, FileKind kind = FileKind::regular) const {
    const auto opened = open_trusted(path, ::geteuid(), kind);
    return opened ? "" : without(opened.error().message, folder_.path());
  }
  TempFolder folder_;
};

TEST_F(Trust, BelievesAFileThatOnlyItsOwnerCanWriteEvenBelowStickyTmp) {
  const auto file = folder_.write("a/b.toml", "content");
  const auto opened = open_trusted(file, ::geteuid());
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(*read_all(opened->file.get(), 100), "content");
  EXPECT_EQ(opened->status.st_uid, ::geteuid());
}

TEST_F(Trust, RefusesAFileThatGroupOrOthersCanWrite) {
  EXPECT_EQ(refusal(folder_.write("group", "", 0664)),
            "/group can be written by others (mode 0664); chmod go-w /group");
  EXPECT_EQ(refusal(folder_.write("all", "", 0646)),
            "/all can be written by others (mode 0646); chmod go-w /all");
}

TEST_F(Trust, RefusesAFileBelowADirectoryThatOthersCanWrite) {
  const auto file = folder_.write("open/inner/file", "");
  ::chmod(folder_.path("open").c_str(), 0777);
  EXPECT_EQ(refusal(file), "/open can be written by others (mode 0777); chmod go-w /open");
}

TEST_F(Trust, BelievesOwnEntriesOfAStickyDirectory) {
  const auto file = folder_.write("sticky/file", "");
  ::chmod(folder_.path("sticky").c_str(), 01777);
  EXPECT_EQ(refusal(file), "");
}

TEST_F(Trust, FollowsLinksAndJudgesWhereTheyLead) {
  const auto file = folder_.write("real/file", "");
  fs::create_symlink("real/file", folder_.path("link"));
  EXPECT_EQ(refusal(folder_.path("link")), "");
  fs::create_symlink(file, folder_.path("absolute"));
  EXPECT_EQ(refusal(folder_.path("absolute")), "");
  ::chmod(folder_.path("real").c_str(), 0777);
  EXPECT_EQ(refusal(folder_.path("link")),
            "/real can be written by others (mode 0777); chmod go-w /real");
}

TEST_F(Trust, RefusesALinkThatOthersCanPointElsewhere) {
  const auto file = folder_.write("real/file", "");
  fs::create_directory(folder_.path("open"));
  fs::create_symlink(file, folder_.path("open/link"));
  ::chmod(folder_.path("open").c_str(), 0777);
  EXPECT_EQ(refusal(folder_.path("open/link")),
            "/open can be written by others (mode 0777); chmod go-w /open");
}

TEST_F(Trust, FollowsDotDotOutOfTheTargetOfALink) {
  folder_.write("a/deep/x", "");
  const auto file = folder_.write("a/file", "found");
  fs::create_symlink("a/deep", folder_.path("link"));
  const auto opened = open_trusted(folder_.path("link/../file"), ::geteuid());
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(*read_all(opened->file.get(), 100), "found");
}

TEST_F(Trust, EndsALoopOfLinks) {
  fs::create_symlink("b", folder_.path("a"));
  fs::create_symlink("a", folder_.path("b"));
  EXPECT_NE(refusal(folder_.path("a")).find("Too many levels of symbolic links"),
            std::string::npos);
}

TEST_F(Trust, RefusesWhatIsNoRegularFileWithoutOpeningIt) {
  ASSERT_EQ(::mkfifo(folder_.path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(refusal(folder_.path("fifo")), "/fifo is not a regular file");  // and does not block
  EXPECT_EQ(refusal("/dev/null"), "/dev/null is not a regular file");
  EXPECT_EQ(refusal(folder_.path()), " is not a regular file");
  folder_.write("file", "");
  EXPECT_EQ(refusal(folder_.path("file"), FileKind::directory), "/file is not a directory");
  EXPECT_EQ(refusal(folder_.path("file/below")), "/file cannot be read: Not a directory");
}

TEST_F(Trust, NamesTheFileThatIsMissing) {
  EXPECT_EQ(refusal(folder_.path("none/x")), "/none cannot be read: No such file or directory");
  EXPECT_EQ(refusal(""), "not a path");
}

TEST_F(Trust, OpensDirectoriesThatKeepTheirEntries) {
  fs::create_directory(folder_.path("cards"));
  EXPECT_EQ(refusal(folder_.path("cards"), FileKind::directory), "");
  ::chmod(folder_.path("cards").c_str(), 01777);
  EXPECT_EQ(refusal(folder_.path("cards"), FileKind::directory), "");
  ::chmod(folder_.path("cards").c_str(), 0777);
  EXPECT_EQ(refusal(folder_.path("cards"), FileKind::directory),
            "/cards can be written by others (mode 0777); chmod go-w /cards");
}

TEST_F(Trust, RefusesWhatBelongsToAThirdUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "giving a file away needs root";
  constexpr uid_t third = 12345;
  const auto file = folder_.write("file", "");
  ASSERT_EQ(::chown(file.c_str(), third, 0), 0);
  EXPECT_EQ(
      refusal(file),
      "/file belongs to user 12345, who is neither root nor the owner of the config; chown it");
  // As the config itself, its owner is the one who is trusted; and so it is with files beside it.
  EXPECT_TRUE(open_trusted(file, std::nullopt));
  EXPECT_TRUE(open_trusted(file, third));
  EXPECT_FALSE(open_trusted(file, third + 1));
}

TEST_F(Trust, RefusesForeignEntriesOfAStickyDirectory) {
  if (::geteuid() != 0) GTEST_SKIP() << "giving a file away needs root";
  const auto file = folder_.write("real", "");
  fs::create_directory(folder_.path("sticky"));
  ::chmod(folder_.path("sticky").c_str(), 01777);
  fs::create_symlink(file, folder_.path("sticky/link"));
  ASSERT_EQ(::lchown(folder_.path("sticky/link").c_str(), 12345, 0), 0);
  EXPECT_EQ(refusal(folder_.path("sticky/link")),
            "/sticky/link belongs to user 12345, who is neither root nor the owner of the config; "
            "chown it");
}

// In a mount namespace of its own, in a child, so that nothing is left behind. Exit status: 0 fine.
int judge_read_only_mount(const std::string& directory) {
  constexpr int cannot_mount = 77;
  if (::unshare(CLONE_NEWNS) != 0 ||
      ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("none", directory.c_str(), "tmpfs", 0, "mode=0777") != 0) {
    return cannot_mount;
  }
  const std::string file = directory + "/file";
  std::ofstream{file} << "content";
  ::chmod(file.c_str(), 0644);
  if (open_trusted(file, 0)) return 1;  // others could replace it
  if (::mount(nullptr, directory.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) != 0) return 2;
  if (!open_trusted(file, 0)) return 3;
  return open_trusted(directory, 0, FileKind::directory) ? 0 : 4;
}

TEST_F(Trust, BelievesEntriesOfAnOpenDirectoryOnAReadOnlyMount) {
  if (::geteuid() != 0) GTEST_SKIP() << "mounting needs root";
  fs::create_directory(folder_.path("mount"));
  const pid_t child = ::fork();
  if (child == 0) ::_exit(judge_read_only_mount(folder_.path("mount")));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no mount namespaces here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(ReadAll, RefusesMoreThanTheLimit) {
  const TempFolder folder;
  const auto opened = open_trusted(folder.write("file", "12345"), std::nullopt);
  ASSERT_TRUE(opened);
  EXPECT_FALSE(read_all(opened->file.get(), 4));
}

}  // namespace
}  // namespace stile::config
