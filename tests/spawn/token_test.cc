// The secret of one worker.
#include "spawn/token.h"

#include <gtest/gtest.h>

#include "base/sha256.h"

namespace stile::spawn {
namespace {

TEST(SpawnToken, HasTwoHundredAndFiftySixBitsAndIsNewEachTime) {
  const auto token = new_token();
  EXPECT_EQ(token.size(), 64U);
  EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(token, new_token());
}

TEST(SpawnToken, OnlyTheTokenItselfMatches) {
  const auto token = new_token();
  const auto hash = sha256_text(token);
  EXPECT_EQ(hash.find(token.substr(0, 16)), std::string::npos);
  EXPECT_TRUE(is_token(token, hash));
  for (std::size_t i = 0; i < token.size(); ++i) {
    auto other = token;
    other[i] = other[i] == 'a' ? 'b' : 'a';
    EXPECT_FALSE(is_token(other, hash)) << i;
    EXPECT_FALSE(is_token(token.substr(0, i), hash)) << i;
  }
  EXPECT_FALSE(is_token(hash, hash));
  EXPECT_FALSE(is_token("", sha256_text("")));
  EXPECT_FALSE(is_token(token, ""));
}

}  // namespace
}  // namespace stile::spawn
