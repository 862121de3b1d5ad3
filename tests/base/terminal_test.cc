// Text of workers and agents on a terminal.
#include "base/terminal.h"

#include <gtest/gtest.h>

namespace stile {
namespace {

TEST(WithoutControls, KeepsLinesAndCharacters) {
  EXPECT_EQ(without_controls("one\n\ttwo \u00e4\u20ac\U0001f30d\u00a0~"),
            "one\n\ttwo \u00e4\u20ac\U0001f30d\u00a0~");
}

TEST(WithoutControls, LeavesOutWhatControlsATerminal) {
  EXPECT_EQ(without_controls("a\x1b[2Jb\rc\x07\x7f"), "a[2Jbc");
  // The same as one character: CSI, OSC, DCS, APC.
  EXPECT_EQ(without_controls("\u009b2J\u009d52;c;x\u009c\u0090\u009f\u0080"), "2J52;c;x");
  EXPECT_EQ(without_controls("\xc2"), "\xc2");  // the end of a piece
}

}  // namespace
}  // namespace stile
