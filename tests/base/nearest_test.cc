// Hints for mistyped words.
#include "base/nearest.h"

#include <gtest/gtest.h>

#include <string>

namespace stile {
namespace {

TEST(Nearest, FindsTheWordThatWasProbablyMeant) {
  const std::vector<std::string_view> known{"ports", "http_ports", "mode", "contact"};
  EXPECT_EQ(nearest("prots", known), "ports");
  EXPECT_EQ(nearest("http-ports", known), "http_ports");
  EXPECT_EQ(nearest("mod", known), "mode");
}

TEST(Nearest, IsSilentWhenNothingIsNear) {
  const std::vector<std::string_view> known{"ports", "mode"};
  EXPECT_EQ(nearest("strip_request_headers", known), "");
  EXPECT_EQ(nearest(std::string(100'000, 'x'), known), "");
  EXPECT_EQ(nearest("x", {}), "");
}

}  // namespace
}  // namespace stile
