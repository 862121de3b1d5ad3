// How problems are printed and ordered.
#include "config/diagnostics.h"

#include <gtest/gtest.h>

#include "base/quoted.h"

namespace stile::config {
namespace {

TEST(Diagnostics, PrintsPlaceKeyProblemAndHint) {
  Diagnostics out;
  out.error({"stile.toml", 3, 7}, "egress.ports", "0 is out of range", "from 1 to 65535");
  out.error({"stile.toml", 0, 0}, "", "larger than 16 MiB");
  out.warning({"list.txt", 9, 0}, "", "'*' allows every name");
  EXPECT_EQ(out.text(),
            "stile.toml:3:7: egress.ports: 0 is out of range; from 1 to 65535\n"
            "stile.toml: larger than 16 MiB\n"
            "list.txt:9: warning: '*' allows every name\n");
  EXPECT_EQ(out.error_count(), 2U);
}

TEST(Diagnostics, SortsByPlaceWithinEachFileAndDropsRepetitions) {
  Diagnostics out;
  out.error({"b", 9, 1}, "", "third");
  out.error({"b", 2, 5}, "", "second");
  out.error({"a", 1, 1}, "", "fourth");
  out.error({"b", 2, 1}, "", "first");
  out.error({"b", 9, 1}, "", "third");
  out.sort();
  EXPECT_EQ(out.text(), "b:2:1: first\nb:2:5: second\nb:9:1: third\na:1:1: fourth\n");
}

TEST(Diagnostics, SaysTheNameOfAFileOnce) {
  Diagnostics out;
  out.file_error("/etc/x", "/etc/x cannot be read: No such file or directory");
  out.file_error("/etc/x", "/etc can be written by others");
  EXPECT_EQ(out.text(),
            "/etc/x: cannot be read: No such file or directory\n"
            "/etc/x: /etc can be written by others\n");
  EXPECT_EQ(about_file("/etc/x", "/etc/x cannot be read: Permission denied"),
            "/etc/x: cannot be read: Permission denied");
  EXPECT_EQ(about_file("/etc/x", "/etc/xy cannot be read"), "/etc/x: /etc/xy cannot be read");
}

TEST(Printable, EscapesWhatCouldMoveTheCursor) {
  EXPECT_EQ(printable("a\x1b[2J\n\xc3\xa4"), "a\\x1b[2J\\x0a\\xc3\\xa4");
}

}  // namespace
}  // namespace stile::config
