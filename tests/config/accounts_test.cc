// accounts: users and groups by name, and those that are not there.
#include "config/accounts.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace stile::config
