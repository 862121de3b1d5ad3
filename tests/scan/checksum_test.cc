// Checksums against values that their specifications publish.
#include "scan/checksum.h"

#include <gtest/gtest.h>

namespace stile::scan {
namespace {

TEST(Checksum, Crc32) {
  EXPECT_EQ(crc32("123456789"), 0xcbf43926U);
  EXPECT_EQ(crc32(""), 0U);
  EXPECT_EQ(crc32_base62(""), "000000");
  EXPECT_EQ(crc32_base62("123456789").size(), 6U);
}

TEST(Checksum, Luhn) {
  EXPECT_TRUE(passes_luhn("79927398713"));
  EXPECT_FALSE(passes_luhn("79927398710"));
  EXPECT_TRUE(passes_luhn("4242424242424242"));
}

TEST(Checksum, Mod97) {
  EXPECT_TRUE(passes_mod_97("GB82WEST12345698765432"));
  EXPECT_FALSE(passes_mod_97("GB82WEST12345698765423"));
  EXPECT_FALSE(passes_mod_97("GB82"));
}

TEST(Checksum, Base58Check) {
  const auto any = [](std::string_view) { return true; };
  const auto genesis = from_base58_check("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", any);
  ASSERT_TRUE(genesis);
  EXPECT_EQ(genesis->size(), 21U);
  EXPECT_EQ(genesis->front(), '\0');
  EXPECT_FALSE(from_base58_check("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb", any));
  EXPECT_FALSE(from_base58_check("0OIl", any));
  EXPECT_FALSE(from_base58_check("", any));
  EXPECT_FALSE(from_base58_check(std::string(121, '1'), any));
  EXPECT_FALSE(from_base58_check("1111", any));
  EXPECT_FALSE(from_base58_check("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
                                 [](std::string_view data) { return data.size() != 21; }));
}

TEST(Checksum, Bech32) {
  EXPECT_TRUE(passes_bech32("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"));
  EXPECT_TRUE(passes_bech32("BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4"));
  EXPECT_TRUE(passes_bech32("bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0"));
  EXPECT_FALSE(passes_bech32("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5"));
  EXPECT_FALSE(passes_bech32("bc1"));
  EXPECT_FALSE(passes_bech32("1qqqqqqq"));
}

// The examples of EIP-55.
TEST(Checksum, Eip55) {
  EXPECT_TRUE(passes_eip55("5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"));
  EXPECT_TRUE(passes_eip55("fB6916095ca1df60bB79Ce92cE3Ea74c37c5d359"));
  EXPECT_TRUE(passes_eip55("dbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB"));
  EXPECT_TRUE(passes_eip55("D1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb"));
  EXPECT_FALSE(passes_eip55("D1220a0cf47c7B9Be7A2E6BA89F429762e7b9aDb"));
  EXPECT_FALSE(passes_eip55("0000000000000000000000000000000000000000"));
  EXPECT_FALSE(passes_eip55("abc"));
}

}  // namespace
}  // namespace stile::scan
