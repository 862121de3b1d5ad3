// Stretches: the same places as a simple search.
#include "scan/stretch.h"

#include <gtest/gtest.h>

#include <random>

#include "samples.h"

namespace stile::scan {
namespace {

constexpr CharSet hex_set{hex}, base64_set{base64_any}, letters_set{lower | upper | space};

Stretch simply_next(std::string_view text, std::size_t from, std::uint16_t alphabet,
                    std::size_t least) {
  for (std::size_t at = from; at < text.size(); ++at) {
    const std::size_t size = run_length(text, at, alphabet, text.size());
    if (size >= least) return {at, at + size};
    at += size;
  }
  return {text.size(), text.size()};
}

// Stretches of random length, with one to three other characters between them.
std::string random_stretches(std::size_t size, std::size_t longest, unsigned seed) {
  std::mt19937 numbers{seed};
  constexpr std::string_view members = "0123456789abcdefABCDEF", others = "gz_\x80\xff\0-";
  std::string text;
  while (text.size() < size) {
    for (auto left = numbers() % longest; left > 0; --left) text += members[numbers() % 22];
    for (auto left = numbers() % 3 + 1; left > 0; --left) text += others[numbers() % 7];
  }
  text.resize(size);
  return text;
}

TEST(Stretches, AreThoseOfASimpleSearch) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    const std::string text = random_stretches(seed, 20 + seed % 60, seed);
    for (const std::size_t least : {17U, 22U, 26U, 31U, 32U, 33U, 47U, 64U}) {
      for (std::size_t from = 0; from <= text.size(); from += 1 + from / 3) {
        const Stretch found = next_stretch(text, from, hex_set, least);
        const Stretch expected = simply_next(text, from, hex, least);
        ASSERT_EQ(found.first, expected.first) << seed << ' ' << least << ' ' << from;
        ASSERT_EQ(found.end, expected.end) << seed << ' ' << least << ' ' << from;
      }
    }
  }
}

TEST(Stretches, EndWhereTheyAreSaidTo) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    const std::string text = random_stretches(200, 90, seed);
    for (std::size_t end = 0; end <= text.size(); ++end) {
      std::size_t first = end;
      while (first > 0 && is_in(hex, text[first - 1])) --first;
      ASSERT_EQ(stretch_before(text, end, hex_set), first) << seed << ' ' << end;
    }
  }
}

TEST(CharSet, HasTheCharactersOfItsAlphabet) {
  for (int c = -128; c < 128; ++c) {
    const auto character = static_cast<char>(c);
    EXPECT_EQ(hex_set.has(character), is_in(hex, character)) << c;
    EXPECT_EQ(base64_set.has(character), is_in(base64_any, character)) << c;
    EXPECT_EQ(letters_set.has(character), is_in(lower | upper | space, character)) << c;
  }
}

// All of the alphabet, and all that is not, at every place of a block.
TEST(Stretches, OfAnAlphabetEndAtAnyOtherCharacter) {
  for (int c = -128; c < 128; ++c) {
    const auto character = static_cast<char>(c);
    for (const std::size_t before : {20U, 31U, 32U, 40U}) {
      const std::string text = std::string(before, 'a') + character + std::string(20, '0');
      const std::size_t end = is_in(base64_any, character) ? text.size() : before;
      EXPECT_EQ(next_stretch(text, 0, base64_set, 17).end, end) << c << ' ' << before;
    }
  }
}

}  // namespace
}  // namespace stile::scan
