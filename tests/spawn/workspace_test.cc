// Workspaces: below the operator's directories, and never through a link.
#include "spawn/workspace.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "spawn/files.h"

namespace stile::spawn {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> allowed_roots{"/mnt/agents", "/srv/work"};

TEST(SpawnWorkspace, MustBeBelowAnAllowedDirectory) {
  for (const auto* path : {"/mnt/agents", "/mnt/agents/", "/mnt/agents/test", "/srv/work/a/b"}) {
    EXPECT_TRUE(is_allowed_workspace(path, allowed_roots)) << path;
  }
  for (const std::string& path : std::vector<std::string>{
           "", "/", "/etc/passwd", "/mnt", "/mnt/agents2", "/mnt/agents/../etc", "/mnt/agents/..",
           "mnt/agents", "/mnt/agents/./x", "/mnt//agents", "/mnt/agents/x/../../agents",
           std::string{"/mnt/agents\0/x", 14}}) {
    EXPECT_FALSE(is_allowed_workspace(path, allowed_roots)) << path;
  }
}

class SpawnFiles : public testing::Test {
 protected:
  SpawnFiles() : root{fs::temp_directory_path() / ("spawn-" + std::to_string(::getpid()))} {
    fs::create_directories(root / "agents/w/sub");
    fs::create_directories(root / "outside");
    std::ofstream{root / "outside/secret"} << "secret";
    std::ofstream{root / "agents/w/file"} << "hello";
    std::ofstream{root / "agents/w/sub/deep"} << std::string(60'000, 'x') << "\xe2\x82\xac";
    std::ofstream{root / "agents/w/binary"} << '\xff';
    fs::create_symlink(root / "outside/secret", root / "agents/w/link");
    fs::create_directory_symlink(root / "outside", root / "agents/w/dirlink");
    fs::create_directory_symlink(root / "outside", root / "agents/linked");
    ::mkfifo((root / "agents/w/fifo").c_str(), 0600);
    workspace = (root / "agents/w").string();
    allowed = {(root / "agents").string()};
  }
  ~SpawnFiles() override { fs::remove_all(root); }

  fs::path root;
  std::string workspace;
  std::vector<std::string> allowed;
};

TEST_F(SpawnFiles, WorkspaceIsMadeOnceAndNeverThroughALink) {
  const auto made = make_workspace(allowed[0], "alpha", allowed, ::getuid());
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(workspace_of(allowed[0] + '/', "alpha"), allowed[0] + "/alpha");
  EXPECT_TRUE(fs::is_directory(allowed[0] + "/alpha"));
  EXPECT_TRUE(make_workspace(allowed[0] + '/', "alpha", allowed, ::getuid()));
  const auto through = make_workspace(allowed[0] + "/linked", "alpha", allowed, ::getuid());
  ASSERT_FALSE(through);
  EXPECT_NE(through.error().message.find("Symlinks"), std::string::npos);
  fs::create_directory_symlink(root / "outside", root / "agents/beta");
  EXPECT_FALSE(make_workspace(allowed[0], "beta", allowed, ::getuid()));
  std::ofstream{root / "agents/gamma"} << "x";
  EXPECT_FALSE(make_workspace(allowed[0], "gamma", allowed, ::getuid()));
  EXPECT_FALSE(make_workspace(allowed[0] + "/missing", "alpha", allowed, ::getuid()));
  EXPECT_FALSE(fs::exists(root / "outside/alpha"));
}

// The spawner is root: without this, a caller would read what the file system keeps from it.
TEST_F(SpawnFiles, WorkspaceOfAnotherUserIsRefused) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can give files away";
  constexpr uid_t caller = 4242, other = 4343;
  fs::create_directories(root / "agents/others");
  ASSERT_EQ(::chown((root / "agents/others").c_str(), other, other), 0);
  EXPECT_FALSE(make_workspace(allowed[0], "others", allowed, caller));
  EXPECT_TRUE(make_workspace(allowed[0], "others", allowed, other));
  EXPECT_FALSE(make_workspace(allowed[0], "w", allowed, caller));  // root's, and not empty
  EXPECT_TRUE(make_workspace(allowed[0], "new", allowed, caller));
  fs::permissions(root / "agents/w/file", fs::perms::owner_read);
  EXPECT_FALSE(read_piece(workspace, "file", 0, caller));
  EXPECT_TRUE(read_piece(workspace, "file", 0, 0));
}

TEST_F(SpawnFiles, ListsFilesAndDirectoriesOnly) {
  const auto listing = list_files(workspace, "", ::getuid());
  ASSERT_TRUE(listing) << listing.error().message;
  std::string names;
  for (const auto& file : listing->files) names += file.name + (file.is_directory ? "/ " : " ");
  EXPECT_EQ(names, "binary file sub/ ");
  EXPECT_EQ(list_files(workspace, "/workspace/sub", ::getuid())->files.size(), 1U);
}

TEST_F(SpawnFiles, ReadsOnlyWhatIsInTheWorkspace) {
  EXPECT_EQ(read_piece(workspace, "file", 0, ::getuid())->bytes, "hello");
  EXPECT_EQ(read_piece(workspace, "/workspace/file", 2, ::getuid())->bytes, "llo");
  EXPECT_FALSE(read_piece(workspace, "binary", 0, ::getuid())->is_text);
  for (const auto* path : {"link", "dirlink/secret", "../../outside/secret", "..", "fifo", "sub",
                           "missing", "/etc/passwd", "sub/../../../outside/secret"}) {
    EXPECT_FALSE(read_piece(workspace, path, 0, ::getuid())) << path;
  }
  EXPECT_FALSE(list_files(workspace, "dirlink", ::getuid()));
  EXPECT_FALSE(list_files(workspace, "..", ::getuid()));
}

TEST_F(SpawnFiles, ReadsPiecesUntilTheEnd) {
  std::string all;
  std::uint64_t offset = 0;
  while (true) {
    const auto piece = read_piece(workspace, "sub/deep", offset, ::getuid());
    ASSERT_TRUE(piece);
    EXPECT_TRUE(piece->is_text);
    all += piece->bytes;
    if (piece->next_offset == piece->size) break;
    ASSERT_GT(piece->next_offset, offset);
    offset = piece->next_offset;
  }
  EXPECT_EQ(all.size(), 60'003U);
}

}  // namespace
}  // namespace stile::spawn
