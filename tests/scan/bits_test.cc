// Bits: the same as character by character, and what says something.
#include "scan/bits.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

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
      EXPECT_EQ(bytes_from(0, size, bits, shifted), bytes) << one;
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
      const std::size_t count = 6 * rest.size() / 8;
      EXPECT_EQ(bytes_from(6 * character, count, bits, shifted), expected.substr(0, count))
          << run << character;
    }
  }
}

TEST(Bits, OfHexadecimalDigitsAreTheBytes) {
  Bytes room, shifted;
  for (unsigned size = 0; size < 200; ++size) {
    const std::string bytes = random_bytes(size, size).substr(0, size), digits = hex_of(bytes);
    EXPECT_EQ(bits_of_hex(digits, room), bytes);
    EXPECT_EQ(bits_of_hex(hex_of(bytes, true), room), bytes);
    EXPECT_EQ(bits_of_hex(digits + "f", room), bytes + "\xff");
    EXPECT_EQ(bytes_from(4, size, bits_of_hex("f" + digits, room), shifted), bytes);
  }
}

// The bits of these bytes, so many bits after the first one.
std::string_view bits_of(std::string_view bytes, unsigned shift, Bytes& room) {
  if (shift % 4 == 0) return bits_of_hex(std::string(shift / 4, 'f') + hex_of(bytes), room);
  // Base64 begins at multiples of six bits.
  return bits_of_base64(std::string(shift == 6 ? 1 : 3, '_') + url_base64(bytes), room);
}

constexpr std::array<unsigned, 4> all_shifts{0, 2, 4, 6};
constexpr Shifts every_shift = 0xaa;

// Between bytes that are none, at every place of a block.
TEST(TellingShifts, AreThoseWithAStretchOfText) {
  const std::string text = "a\tB\r\n~ 0{}%|_z\\^";
  Bytes room;
  for (const char around : {'\x80', '\xff', '\x8b', '\xaa', '\xd5'}) {
    for (std::size_t least = shortest_text; least <= longest_text; ++least) {
      for (std::size_t size = least; size < 150; size += size < 70 ? 1 : 13) {
        for (std::size_t at = 0; at + least <= size; ++at) {
          const unsigned shift = all_shifts[(at + size) % 4];
          std::string bytes(size, around);
          bytes.replace(at, least, text, 0, least);
          const std::string_view with = bits_of(bytes + around, shift, room);
          ASSERT_EQ(telling_shifts(with, shift_of(shift), least), shift_of(shift))
              << least << ' ' << size << ' ' << at << ' ' << shift;
          ASSERT_NE(telling_shifts(with, every_shift, least) & shift_of(shift), 0);
          bytes[at + at % least] = around;
          ASSERT_EQ(telling_shifts(bits_of(bytes + around, shift, room), shift_of(shift), least), 0)
              << least << ' ' << size << ' ' << at << ' ' << shift;
        }
      }
    }
  }
}

TEST(TellingShifts, AreThoseWhereGzipDataBegins) {
  Bytes room;
  for (std::size_t size = 3; size < 200; ++size) {
    for (std::size_t at = 0; at + 3 <= size; ++at) {
      std::string bytes(size, '\x8b');
      bytes.replace(at, 3, gzip_start);
      ASSERT_EQ(find_gzip_start(bytes, 0), at) << size << ' ' << at;
      ASSERT_EQ(find_gzip_start(bytes, at), at) << size << ' ' << at;
      ASSERT_EQ(find_gzip_start(bytes, at + 1), size) << size << ' ' << at;
      for (const unsigned shift : all_shifts) {
        ASSERT_EQ(telling_shifts(bits_of(bytes, shift, room), shift_of(shift), 14), shift_of(shift))
            << size << ' ' << at << ' ' << shift;
      }
      bytes[at + 2] = '\x1f';
      for (const unsigned shift : all_shifts) {
        ASSERT_EQ(telling_shifts(bits_of(bytes, shift, room), shift_of(shift), 14), 0)
            << size << ' ' << at << ' ' << shift;
      }
    }
  }
}

// Text is what a simple search finds, in random bits in which nearly all bytes are text.
TEST(TellingShifts, AreThoseOfASimpleSearch) {
  Bytes room, shifted;
  std::mt19937 numbers{1};
  for (unsigned round = 0; round < 20'000; ++round) {
    std::string run;
    for (auto size = 22 + numbers() % 200; run.size() < size;) {
      const auto seed = static_cast<unsigned>(numbers());
      run += seed % 9 == 0 ? random_text(1, seed) : url_base64(random_text(3, seed));
    }
    const std::string_view bits = bits_of_base64(run, room);
    for (const std::size_t least :
         {std::size_t{8}, std::size_t{12}, std::size_t{13}, std::size_t{14}}) {
      Shifts expected = 0;
      for (const unsigned shift : all_shifts) {
        const std::string_view bytes = bytes_from(shift, bits.size(), bits, shifted);
        std::size_t length = 0;
        for (const char c : bytes) {
          length = is_text(c) ? length + 1 : 0;
          if (length == least) expected |= shift_of(shift);
        }
      }
      ASSERT_EQ(telling_shifts(bits, every_shift, least), expected) << run << ' ' << least;
    }
  }
}

TEST(TellingShifts, AreNoneOfAShortText) {
  Bytes room;
  EXPECT_EQ(telling_shifts(bits_of_hex("", room), every_shift, 8), 0);
  EXPECT_EQ(telling_shifts(bits_of("short", 0, room), shift_of(0), 8), 0);
  EXPECT_EQ(telling_shifts(bits_of("long enough", 0, room), shift_of(0), 8), shift_of(0));
}

}  // namespace
}  // namespace stile::scan
