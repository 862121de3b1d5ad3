// accounts: users and groups by name, and those that are not there.
#include "config/accounts.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "tests/config/temp_folder.h"

namespace stile::config {
namespace {

TEST(Accounts, FindsUsersAndGroups) {
  const auto root = find_user("root");
  ASSERT_TRUE(root);
  EXPECT_EQ(root->id, 0U);
  EXPECT_EQ(root->group, 0U);
  const auto daemon = find_user("daemon");
  ASSERT_TRUE(daemon);
  EXPECT_NE(daemon->id, 0U);
  EXPECT_EQ(find_group("root"), 0U);
}

TEST(Accounts, AreNoneForOtherNames) {
  for (const char* name : {"", "no-such-account", "0", "root:x"}) {
    EXPECT_FALSE(find_user(name)) << name;
    EXPECT_FALSE(find_group(name)) << name;
  }
}

// In a mount namespace of its own, in a child, so that nothing is left behind. Exit status: 0 fine,
// 77 not possible here.
int find_crowd_in(const std::string& groups) {
  if (::unshare(CLONE_NEWNS) != 0 ||
      ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount(groups.c_str(), "/etc/group", nullptr, MS_BIND, nullptr) != 0) {
    return 77;
  }
  return find_group("crowd") == 4242U ? 0 : 2;
}

TEST(Accounts, FindsAGroupOfThousands) {
  if (::geteuid() != 0) GTEST_SKIP() << "mounting needs root";
  std::string line = "crowd:x:4242:";
  for (int member = 0; member < 20000; ++member) line += "member" + std::to_string(member) + ",";
  line.back() = '\n';
  TempFolder folder;
  const auto groups = folder.write("group", line);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(find_crowd_in(groups));
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no mounting here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace stile::config
