// Which unix sockets are found in the kernel's list.
#include "netns/open_sockets.h"

#include <gtest/gtest.h>

namespace stile::netns {
namespace {

using Paths = std::vector<std::string>;

constexpr auto listing =
    "Num       RefCount Protocol Flags    Type St Inode Path\n"
    "0000000000000000: 00000002 00000000 00010000 0001 01 10001 /run/dbus/system_bus_socket\n"
    "0000000000000000: 00000002 00000000 00010000 0001 01   102 /var/lib/a b/c /d\n"
    "0000000000000000: 00000003 00000000 00000000 0001 03 10003\n"
    "0000000000000000: 00000002 00000000 00010000 0001 01 10004 @/tmp/.X11-unix/X0\n"
    "0000000000000000: 00000003 00000000 00000000 0001 03 10005 /run/dbus/system_bus_socket\n";

TEST(NetnsSocketPaths, TakesPathsOnceWithBlanksAndLeavesAbstractNamesOut) {
  EXPECT_EQ(socket_paths(listing), (Paths{"/run/dbus/system_bus_socket", "/var/lib/a b/c /d"}));
}

TEST(NetnsSocketPaths, FindsNothingInNothing) {
  EXPECT_EQ(socket_paths(""), Paths{});
  EXPECT_EQ(socket_paths("Num       RefCount Protocol Flags    Type St Inode Path"), Paths{});
}

TEST(NetnsSocketPaths, ReadsALastLineWithoutItsEnd) {
  EXPECT_EQ(socket_paths("0: 2 0 0 1 1 7 /x"), Paths{"/x"});
}

}  // namespace
}  // namespace stile::netns
