// Bits: the same as character by character, and what says something.
#include "scan/bits.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "samples.h"

namespace stile::scan {
namespace {

using namespace samples;

TEST(Bits, OfBase64AreTheBytes) {
  Bytes room, shifted;
  for (unsigned size = 0; size < 300; ++size) {
    const std::string bytes = random_bytes(size, size).substr(0, size);
    const std::string standard = base64(bytes), run = standard.substr(0, standard.find('='));
    for (const std::string& one : {run, url_base64(bytes)}) {
      const std::string_view bits = bits_of_base64(one, room);
      EXPECT_EQ(bits.substr(0, size), bytes) << one;
      EXPECT_EQ(bits_from(0, one.size(), bits, shifted), bytes) << one;
    }
  }
}

TEST(Bits, FromALaterCharacterAreThoseOfTheRest) {
  Bytes room, other_room, shifted;
  for (unsigned size = 22; size < 300; ++size) {
    const std::string run = random_text(size, size, "AzQ09gZ_-+/");
    const std::string_view bits = bits_of_base64(run, room);
    for (std::size_t character = 1; character < 4; ++character) {
      const std::string_view rest = std::string_view{run}.substr(character);
      const std::string_view expected = bits_of_base64(rest, other_room);
      EXPECT_EQ(bits_from(character, run.size(), bits, shifted),
                expected.substr(0, 6 * rest.size() / 8))
          << run << character;
    }
  }
}

TEST(Bits, OfHexadecimalDigitsAreTheBytes) {
  Bytes room;
  for (unsigned size = 0; size < 200; ++size) {
    const std::string bytes = random_bytes(size, size).substr(0, size);
    EXPECT_EQ(bits_of_hex(hex_of(bytes), room), bytes);
    EXPECT_EQ(bits_of_hex(hex_of(bytes, true) + "f", room), bytes);
  }
}

// Between bytes that are none, at every place of a block.
TEST(SaysSomething, IfThereIsAStretchOfText) {
  const std::string text = "a\tB\r\n~ 0{}%|_z\\^";
  for (const char around : {'\0', '\x1f', '\x80', '\xff', '\x0b', '\x89'}) {
    for (std::size_t least = shortest_text; least <= longest_text; ++least) {
      for (std::size_t size = least; size < 180; size += size < 80 ? 1 : 13) {
        for (std::size_t at = 0; at + least <= size; ++at) {
          std::string bytes(size, around);
          bytes.replace(at, least, text, 0, least);
          ASSERT_TRUE(says_something(bytes, least)) << least << ' ' << size << ' ' << at;
          bytes[at + at % least] = around;
          ASSERT_FALSE(says_something(bytes, least)) << least << ' ' << size << ' ' << at;
        }
      }
    }
  }
}

TEST(SaysSomething, IfGzipDataBegins) {
  for (std::size_t size = 3; size < 200; ++size) {
    for (std::size_t at = 0; at + 3 <= size; ++at) {
      std::string bytes(size, '\x8b');
      bytes.replace(at, 3, gzip_start);
      ASSERT_TRUE(says_something(bytes, 14)) << size << ' ' << at;
      ASSERT_EQ(find_gzip_start(bytes, 0), at) << size << ' ' << at;
      ASSERT_EQ(find_gzip_start(bytes, at), at) << size << ' ' << at;
      ASSERT_EQ(find_gzip_start(bytes, at + 1), size) << size << ' ' << at;
      bytes[at + 2] = '\x1f';
      ASSERT_FALSE(says_something(bytes, 14)) << size << ' ' << at;
    }
  }
}

TEST(SaysSomething, NotIfThereIsNothing) {
  EXPECT_FALSE(says_something("", 8));
  EXPECT_FALSE(says_something("short", 8));
  EXPECT_TRUE(says_something("long enough", 8));
}

}  // namespace
}  // namespace stile::scan
