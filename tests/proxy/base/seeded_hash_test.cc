// SipHash-1-3 against another implementation of it, and a key that is not always the same.
#include "proxy/base/seeded_hash.h"

#include <gtest/gtest.h>

#include <set>

namespace stile {
namespace {

TEST(SeededHash, IsSipHash13) {
  // From CPython 3.11 (siphash13) with PYTHONHASHSEED=0, whose key is all zeros.
  const SipKey zeros;
  EXPECT_EQ(sip_hash(zeros, "a"), 0x407448d2b89b1813U);
  EXPECT_EQ(sip_hash(zeros, "example.com"), 0x7e0432aaedb1758cU);
  EXPECT_EQ(sip_hash(zeros, "a.very.long.name.that.takes.more.than.three.blocks.example.org"),
            0xee7c46c4c3f06148U);
}

TEST(SeededHash, DependsOnTheKeyAndOnEachByte) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t key = 0; key < 4; ++key) {
    for (const char* text : {"", "a", "b", "ab", "ba", "aaaaaaaa", "aaaaaaaaa"}) {
      EXPECT_TRUE(seen.insert(sip_hash({key, 0}, text)).second) << key << ' ' << text;
      if (key > 0) {
        EXPECT_TRUE(seen.insert(sip_hash({0, key}, text)).second) << key << ' ' << text;
      }
    }
  }
}

TEST(SeededHash, TheProcessHasAKeyOfItsOwn) {
  EXPECT_NE(SeededHash{}("example.com"), sip_hash({}, "example.com"));
  EXPECT_EQ(SeededHash{}("example.com"), SeededHash{}("example.com"));
}

}  // namespace
}  // namespace stile
