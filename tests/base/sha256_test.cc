// SHA-256 in hex, and secrets that are kept as their hash.
#include "base/sha256.h"

#include <gtest/gtest.h>

namespace stile {
namespace {

// FIPS 180-2, appendix B.1.
constexpr std::string_view of_abc =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(Sha256Text, IsTheHashInLowerCaseHex) { EXPECT_EQ(sha256_text("abc"), of_abc); }

TEST(IsSha256Of, OnlyTheSecretItselfMatches) {
  EXPECT_TRUE(is_sha256_of("abc", of_abc));
  EXPECT_FALSE(is_sha256_of("abd", of_abc));
  EXPECT_FALSE(is_sha256_of("abc", of_abc.substr(1)));
  EXPECT_FALSE(is_sha256_of("abc", ""));
  EXPECT_FALSE(is_sha256_of("", ""));
}

}  // namespace
}  // namespace stile
