// base64: both directions.
#include "base/base64.h"

#include <gtest/gtest.h>

namespace stile {
namespace {

TEST(Base64, ReadsWhatItWrites) {
  std::string text;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(from_base64(base64(text)), text) << i;
    text += static_cast<char>(i);
  }
}

TEST(Base64, SkipsLineBreaksAndRefusesEverythingElse) {
  EXPECT_EQ(from_base64("c3Rp\nbGU=\r\n"), "stile");
  for (const auto* text :
       {"c3R", "c3Rp=", "c3Rp====", "====", "c3 p", "c3=p", "c3-p", "c3Rp bGU="}) {
    EXPECT_FALSE(from_base64(text)) << text;
  }
}

}  // namespace
}  // namespace stile
