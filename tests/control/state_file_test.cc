// The state file is the old one or the new one, never something between.
#include "control/state_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/config/temp_folder.h"

namespace stile::control {
namespace {

using config::TempFolder;

TEST(StateFile, HasNothingBeforeTheFirstWrite) {
  const TempFolder folder;
  const auto file = StateFile::open(folder.path("state"));
  ASSERT_TRUE(file) << file.error().message;
  const auto text = file->read();
  ASSERT_TRUE(text);
  EXPECT_FALSE(text->has_value());
}

TEST(StateFile, IsReplacedAsAWhole) {
  const TempFolder folder;
  const auto file = StateFile::open(folder.path("state"));
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->replace("a long first text"));
  ASSERT_TRUE(file->replace("short"));
  EXPECT_EQ(**file->read(), "short");
  struct stat info {};
  ASSERT_EQ(::stat(file->path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST(StateFile, IsOneDaemonsAlone) {
  const TempFolder folder;
  const auto first = StateFile::open(folder.path("state"));
  ASSERT_TRUE(first);
  EXPECT_FALSE(StateFile::open(folder.path("state")));
}

TEST(StateFile, ThatCannotBeReadIsAnErrorAndNotNothing) {
  const TempFolder folder;
  const auto file = StateFile::open(folder.path("state"));
  ASSERT_TRUE(file);
  std::filesystem::create_directory(file->path());
  EXPECT_FALSE(file->read());
}

// A child replaces two texts in turn and is killed in the middle of it, again and again.
TEST(StateFile, SurvivesAKillAtAnyMoment) {
  const TempFolder folder;
  const std::string even(100'000, 'e');
  const std::string odd(70'000, 'o');
  for (int round = 0; round < 20; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      auto file = StateFile::open(folder.path("state"));
      while (file) {
        if (!file->replace(even) || !file->replace(odd)) break;
      }
      ::_exit(1);
    }
    ::usleep(static_cast<useconds_t>(1000 + round * 700));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";
    const auto file = StateFile::open(folder.path("state"));
    ASSERT_TRUE(file) << file.error().message;
    const auto text = file->read();
    ASSERT_TRUE(text);
    if (text->has_value()) {
      EXPECT_TRUE(**text == even || **text == odd) << (*text)->size();
    }
  }
}

}  // namespace
}  // namespace stile::control
