// Which unix sockets are found in the kernel's list.
#include "confine/named_sockets.h"

#include <gtest/gtest.h>

namespace stile::confine {
namespace {

using Paths = std::vector<std::string>;

constexpr auto listing =
    "Num       RefCount Protocol Flags    Type St Inode Path\n"
    "0000000000000000: 00000002 00000000 00010000 0001 01 10001 /run/dbus/system_bus_socket\n"
    "0000000000000000: 00000002 00000000 00010000 0001 01   102 /var/lib/a b/c /d\n"
    "0000000000000000: 00000003 00000000 00000000 0001 03 10003\n"
    "0000000000000000: 00000002 00000000 00010000 0001 01 10004 @/tmp/.X11-unix/X0\n"
    "0000000000000000: 00000003 00000000 00000000 0001 03 10005 /run/dbus/system_bus_socket\n";

TEST(ConfineBoundPaths, TakesPathsOnceWithBlanksAndLeavesAbstractNamesOut) {
  EXPECT_EQ(bound_paths(listing), (Paths{"/run/dbus/system_bus_socket", "/var/lib/a b/c /d"}));
}

TEST(ConfineBoundPaths, FindsNothingInNothing) {
  EXPECT_EQ(bound_paths(""), Paths{});
  EXPECT_EQ(bound_paths("Num       RefCount Protocol Flags    Type St Inode Path"), Paths{});
}

TEST(ConfineBoundPaths, ReadsALastLineWithoutItsEnd) {
  EXPECT_EQ(bound_paths("0: 2 0 0 1 1 7 /x"), Paths{"/x"});
}

TEST(ConfineBoundPaths, KnowsAListThatIsNotTheKernels) {
  EXPECT_TRUE(is_socket_table(listing));
  EXPECT_FALSE(is_socket_table(""));
}

}  // namespace
}  // namespace stile::confine
