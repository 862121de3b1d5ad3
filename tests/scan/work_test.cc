// The work of a search is bounded by a multiple of what arrives, whatever that is.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/base64.h"
#include "samples.h"
#include "scan/decode.h"

namespace stile::scan {
namespace {

using namespace samples;

std::string repeated(std::string_view part, std::size_t size) {
  std::string text;
  while (text.size() < size) text += part;
  text.resize(size);
  return text;
}

// Made to hurt: each decodes to as much as possible, or begins as many keys as possible.
std::vector<Sample> hostile(std::size_t size) {
  std::string layers = random_bytes(size, 1);
  for (int i = 0; i < 5; ++i) layers = base64(layers).substr(0, size);
  return {
      {"base64 in base64", layers},
      {"short runs of base64", repeated(random_text(511, 2) + " ", size)},
      {"shortest runs of base64", repeated(random_text(22, 3) + " ", size)},
      {"percent of percent", repeated("%25252541", size)},
      {"percent signs", repeated("%", size)},
      {"one escape at the end", repeated("a", size - 3) + "%41"},
      {"backslashes", repeated("\\", size)},
      {"escapes of escapes", repeated("\\\\\\\\u0041", size)},
      {"hexadecimal", repeated("41", size)},
      {"beginnings of tokens", repeated("sk-ant-", size)},
      {"beginnings of all tokens", repeated("ghp_npm_AKIAAIzahf_xoxb-glpat-sk-:AA", size)},
      {"beginnings of private keys", repeated("-----BEGIN PRIVATE KEY-----", size)},
      {"digits", repeated("4539", size)},
      {"cards", repeated("4539578763621487 ", size)},
      {"cards in groups", repeated("4539 5787 6362 1487 ", size)},
      {"IBANs", repeated("DE75512108001245126198 ", size)},
      {"Base58", repeated("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb ", size)},
      {"Ethereum", repeated("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD ", size)},
      {"beginnings of OpenAI keys", repeated("sk-", size)},
      {"ends of OpenAI keys", repeated("T3BlbkFJ", size)},
      {"line breaks after one letter", "A" + repeated("\n", size - 1)},
      {"lines of one letter", repeated("A\n\n", size)},
      {"paths of hexadecimal", repeated(random_text(33, 5, lower_hex_digits) + "/z", size)},
      {"gzip with names", repeated({"\x1f\x8b\x08\x08______", 10}, size)},
      {"gzip with empty blocks", repeated({"\x1f\x8b\x08\0\0\0\0\0\0\3\0\0\0\xff\xff", 15}, size)},
      {"gzip starts", repeated("\x1f\x8b\x08", size)},
      {"gzip starts in base64", repeated("H4sI", size)},
      {"lines of base64", repeated(random_text(64, 4) + "\n", size)},
      {"short lines of base64", repeated(random_text(22, 4) + "\n", size)},
      {"indented lines of base64 in base64",
       base64(repeated(base64(random_bytes(30, 4)) + "\n  ", size * 3 / 4))},
      {"the same bits at each offset", repeated("V", size)},
      {"hexadecimal in base64 at two offsets", base64(repeated("34567534", size * 3 / 4))},
      {"zeros", std::string(size, '\0')},
      {"list words", repeated("zoo act owl bus fox ice ", size)},
  };
}

TEST(ScanWork, IsLinear) {
  constexpr std::size_t small = 32 * 1024, large = 8 * small;
  constexpr std::uint64_t most = 32;  // times the size
  const auto in_small = hostile(small), in_large = hostile(large);
  for (std::size_t i = 0; i < in_small.size(); ++i) {
    Search first{all_sets()}, second{all_sets()};
    first.feed(in_small[i].text, Search::More::no);
    second.feed(in_large[i].text, Search::More::no);
    EXPECT_LE(first.work(), most * small) << in_small[i].name;
    EXPECT_LE(second.work(), most * large) << in_small[i].name;
    // What is decoded may look like text by chance, and is looked at then.
    EXPECT_LE(second.work(), std::max<std::uint64_t>(first.work() * 9, 12 * large))
        << in_small[i].name;
  }
}

// Each piece is looked at with the 4 KiB before it.
TEST(ScanWork, OfSmallPiecesIsBounded) {
  for (const auto& sample : hostile(32 * 1024)) {
    Search search{all_sets()};
    constexpr std::size_t size = 512;
    for (std::size_t i = 0; i < sample.text.size(); i += size) {
      search.feed(std::string_view{sample.text}.substr(i, size));
    }
    EXPECT_LE(search.work(), 32 * (sample.text.size() + sample.text.size() / size * 4200))
        << sample.name;
  }
}

TEST(ScanWork, KeepsLittleOfWhatArrives) {
  for (const auto& sample : hostile(64 * 1024)) {
    Search search{all_sets()};
    constexpr std::size_t size = 1000;
    for (std::size_t i = 0; i < sample.text.size(); i += size) {
      search.feed(std::string_view{sample.text}.substr(i, size));
      ASSERT_LE(search.kept_bytes(), Search::overlap + most_back) << sample.name;
    }
  }
}

// A worker serves other connections between two steps.
TEST(ScanWork, IsDoneInSmallSteps) {
  constexpr std::size_t size = 64 * 1024;
  auto bodies = hostile(size);
  bodies.push_back({"gzip of zeros", gzip(std::string(4U << 20U, '\0'))});
  bodies.push_back({"gzip of base64", gzip(repeated(base64(random_bytes(size, 1)), 4U << 20U))});
  bodies.push_back({"gzip in base64", base64(gzip(std::string(1U << 20U, 'a')))});
  for (const auto& body : bodies) {
    Search search{all_sets()};
    Steps steps = search.begin(body.text, Search::More::no);
    for (bool goes_on = true; goes_on;) {
      const std::uint64_t before = search.work();
      goes_on = steps.go_on();
      EXPECT_LE(search.work() - before, 2 * Search::step_bytes) << body.name;
    }
    EXPECT_GT(search.work(), body.text.size() / 2) << body.name;
  }
}

// Whatever lies over the end of a step.
TEST(ScanWork, InStepsFindsTheSame) {
  const std::string token = tokens()[0].text, address = "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa";
  const std::vector<Sample> samples{{"tokens", token},
                                    {"tokens", base64(token)},
                                    {"tokens", hex_of(token)},
                                    {"payment", "4539 5787 6362 1486"},
                                    {"payment", "DE75512108001245126199"},
                                    {"wallets", address},
                                    {"", "x" + address}};
  for (const auto& [name, text] : samples) {
    for (std::size_t at = Search::step_bytes - text.size(); at <= Search::step_bytes; ++at) {
      EXPECT_EQ(found_in(all_sets(), std::string(at, ' ') + text + " end"), name) << text << at;
    }
  }
}

// A file that is its own content when it is unpacked would have layers without end.
TEST(ScanWork, OfManyLayersIsBounded) {
  std::string text = tokens()[0].text;
  for (int i = 0; i < 2000; ++i) text = gzip(text);
  Search search{all_sets()};
  search.feed(text, Search::More::no);
  EXPECT_EQ(search.found(), 0U);
  EXPECT_LE(search.work(), 32 * text.size());
}

TEST(ScanWork, OfCompressedDataIsBounded) {
  const std::string bomb = gzip(std::string(64U << 20U, 'a'));
  Search search{all_sets(), Search::Of::gzip_body};
  search.feed(bomb, Search::More::no);
  EXPECT_TRUE(search.is_too_dense());
  std::string nested = bomb;
  for (int i = 0; i < 4; ++i) nested = gzip(base64(nested));
  Search deep{all_sets(), Search::Of::gzip_body};
  deep.feed(nested, Search::More::no);
  EXPECT_LE(deep.work(), 32 * nested.size() + (200U << 20U));
}

}  // namespace
}  // namespace stile::scan
