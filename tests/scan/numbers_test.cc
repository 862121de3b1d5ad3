// Card numbers, IBANs and addresses of wallets: what counts, and what does not.
#include "scan/numbers.h"

#include <gtest/gtest.h>

namespace stile::scan {
namespace {

// Numbers with a valid checksum that are in no list of test numbers, and belong to nobody.
TEST(Payment, FindsCardNumbers) {
  for (const std::string_view text :
       {"4539578763621486", "card: 4539 5787 6362 1486", "4539-5787-6362-1486",
        "{\"pan\":\"4539578763621486\"}", "4539578763621486 12/27", "5425 2334 3010 9903",
        "2720 9940 0000 0082", "374245455400126", "3742 454554 00126", "6011 0000 0000 0012",
        "36006666333344", "3600 666633 3344", "3528000700000000", "/pay/4539578763621486/now"}) {
    EXPECT_TRUE(has_payment(text, 0, text.size())) << text;
  }
}

TEST(Payment, PassesOtherNumbers) {
  for (const std::string_view text :
       {"", "4539578763621487", "45395787636214861", "x4539578763621486", "4539578763621486x",
        "0.4539578763621486", "4539578763621486.5", "4539 5787-6362 1486",
        "45 39 57 87 63 62 14 86", "4242424242424242", "4111 1111 1111 1111", "5555-5555-5555-4444",
        "4444444444444448", "9539578763621481", "4539 5787 6362"}) {
    EXPECT_FALSE(has_payment(text, 0, text.size())) << text;
  }
}

TEST(Payment, FindsIbans) {
  for (const std::string_view text :
       {"DE75512108001245126199", "DE75 5121 0800 1245 1261 99",
        "pay to FR7630006000011234567890189.", "CH5604835012345678009", "NO8330001234567"}) {
    EXPECT_TRUE(has_payment(text, 0, text.size())) << text;
  }
}

TEST(Payment, PassesWhatLooksLikeAnIban) {
  for (const std::string_view text :
       {"DE75512108001245126198", "DE755121080012451261", "XX75512108001245126199",
        "ADE75512108001245126199", "DE75512108001245126199A", "DE89370400440532013000", "DE75",
        "NO"}) {
    EXPECT_FALSE(has_payment(text, 0, text.size())) << text;
  }
}

TEST(Wallets, FindAddressesAndKeys) {
  for (const std::string_view text : {
           "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",  // the first block's
           "https://example.com/a/3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy?x",
           "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",               // BIP 173
           "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",               // EIP 55
           "key=5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ",  // a key that wikis print
       }) {
    EXPECT_TRUE(has_wallet(text, 0, text.size())) << text;
  }
}

TEST(Wallets, PassOtherWords) {
  for (const std::string_view text :
       {"", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb", "x1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
        "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed", "0x5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED",
        "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD", "5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
        "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5", "bc1q"}) {
    EXPECT_FALSE(has_wallet(text, 0, text.size())) << text;
  }
}

}  // namespace
}  // namespace stile::scan
