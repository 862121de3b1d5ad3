// Keys in binary data: what is decoded and says nothing is left out, and nothing can hide in it.
#include <gtest/gtest.h>

#include <random>

#include "base/base64.h"
#include "samples.h"
#include "scan/decode.h"

namespace stile::scan {
namespace {

using namespace samples;

std::string in_lines_of(std::size_t size, std::string_view text, std::string_view line_break) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += size) {
    out.append(text.substr(at, size)).append(line_break);
  }
  return out;
}

std::string found_in_pieces(const std::shared_ptr<const Texts>& texts, std::string_view text,
                            std::size_t size) {
  Search search{texts};
  for (std::size_t at = 0; at < text.size(); at += size) {
    search.feed(text.substr(at, size),
                at + size < text.size() ? Search::More::yes : Search::More::no);
  }
  return texts->rules().names(search.found());
}

// The built-in sets, with an expression that matches nothing: nothing is left out for it.
const std::shared_ptr<const Texts>& without_leaving_out() {
  static const auto texts = texts_of({{"tokens", "", ScanAction::refuse},
                                      {"private-keys", "", ScanAction::refuse},
                                      {"payment", "", ScanAction::refuse},
                                      {"wallets", "", ScanAction::refuse},
                                      {"nothing", "(?i)never-in-these-texts", ScanAction::refuse}});
  return texts;
}

TEST(Binary, IsLeftOutOnlyIfAllThatIsLookedForIsText) {
  EXPECT_EQ(all_sets()->least_text(), 14U);
  EXPECT_EQ(without_leaving_out()->least_text(), 0U);
  const auto with_placeholder = [](std::string text) {
    return Watch{*ScanRules::compile({}), {}, {std::move(text)}}.texts()->least_text();
  };
  EXPECT_EQ(with_placeholder("eightchr"), 8U);
  EXPECT_EQ(with_placeholder("seven77"), 0U);
  EXPECT_EQ(with_placeholder("a long p\xc3\xa4ssword"), 0U);
}

// All shapes are found whole in a stretch of text of that length.
TEST(Binary, HasEveryKeyRightBeforeAndAfterIt) {
  auto keys = tokens();
  for (const auto& key : private_keys()) keys.push_back(key);
  keys.push_back({"the shortest card", "36006666333344"});
  keys.push_back({"the shortest IBAN", "NO8330001234567"});
  keys.push_back({"an address", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"});
  for (const auto& key : keys) {
    const std::string names = found_in(all_sets(), key.text);
    EXPECT_NE(names, "") << key.name;
    for (const std::string around : {"\x80", "\xff", "\x0b", "\x1f", "\x7f\x80"}) {
      for (std::size_t before = 0; before < 4; ++before) {
        const std::string bytes =
            random_bytes(300, 1).substr(before) + around + key.text + around + random_bytes(300, 2);
        for (const std::string& text :
             {base64(bytes), url_base64(bytes), "x" + base64(bytes), "xy" + url_base64(bytes),
              "xyz" + base64(bytes), in_lines_of(76, base64(bytes), "\r\n"), hex_of(bytes),
              "a" + hex_of(bytes, true), percent(base64(bytes), true), base64(base64(bytes)),
              R"({"data":")" + percent(json_escaped(base64(bytes)), false) + "\"}"}) {
          ASSERT_EQ(found_in(all_sets(), text), names) << key.name << text;
        }
      }
    }
  }
}

TEST(Binary, OfAnySizeBeforeAKeyHidesNothing) {
  const std::string token = tokens()[0].text;
  for (unsigned size = 0; size < 700; ++size) {
    const std::string bytes = random_bytes(size, size).substr(0, size) + token + '\xff';
    ASSERT_EQ(found_in(all_sets(), base64(bytes)), "tokens") << size;
    ASSERT_EQ(found_in(all_sets(), hex_of(bytes)), "tokens") << size;
  }
}

// Around the ends of steps and of pieces.
TEST(Binary, OfSeveralStepsHidesNothing) {
  const std::string token = tokens()[0].text;
  constexpr std::size_t step = Search::step_bytes;
  const std::string before = random_bytes(2 * step, 1), after = random_bytes(step, 2);
  for (std::size_t at = step - 60; at <= step + 10; ++at) {
    for (const std::size_t decoded_at : {at, at * 3 / 4, at / 2}) {
      const std::string bytes = before.substr(0, decoded_at) + token + after;
      for (const std::string& text : {base64(bytes), in_lines_of(64, base64(bytes), "\n"),
                                      hex_of(bytes), "/" + url_base64(bytes)}) {
        ASSERT_EQ(found_in(all_sets(), text), "tokens") << decoded_at;
        ASSERT_EQ(found_in_pieces(all_sets(), text, step), "tokens") << decoded_at;
      }
    }
  }
}

TEST(Binary, InTwoLayersOverPiecesHidesNothing) {
  const std::string token = tokens()[0].text;
  for (unsigned seed = 0; seed < 8; ++seed) {
    const std::string bytes =
        random_bytes(90'000, seed).substr(seed) + token + random_bytes(9000, 2);
    const std::string twice = base64(base64(bytes)), three_times = base64(twice);
    EXPECT_EQ(found_in_pieces(all_sets(), twice, 65536 - seed), "tokens") << seed;
    EXPECT_EQ(found_in_pieces(all_sets(), twice, 10'000 + seed), "tokens") << seed;
    EXPECT_EQ(found_in_pieces(all_sets(), three_times, 65536 - seed), "tokens") << seed;
  }
}

// Compressed data has bytes that look like escapes: %41 and the like, \n, \".
TEST(Binary, WithWhatLooksLikeAnEscapeIsStillCompressedData) {
  Bytes room;
  unsigned with_escapes = 0;
  for (unsigned seed = 0; seed < 6; ++seed) {
    const std::string before = random_text(100'000, seed, "abcdefghijklmnopqrst    {}:,0123456789");
    const std::string compressed = gzip(before + tokens()[0].text + random_text(100'000, 2));
    with_escapes += unescape(compressed, room) ? 1U : 0U;
    EXPECT_EQ(found_in(all_sets(), base64(compressed)), "tokens") << seed;
    EXPECT_EQ(found_in(all_sets(), hex_of(compressed)), "tokens") << seed;
    EXPECT_EQ(found_in(all_sets(), percent(compressed, false)), "tokens") << seed;
  }
  EXPECT_GT(with_escapes, 3U);
}

TEST(Binary, HidesNoSecretWhateverItsBytesAre) {
  for (const std::string value :
       {"8 chars!", "a longer secret value", "\xc3\xa4\xc3\xb6 s\xc3\xbc\xc3\x9f",
        "\x01\x02\x03\x04\x05\x06\x07\x08"}) {
    auto secret = std::make_shared<acl::Secret>();
    secret->value = std::make_shared<acl::SecretValue>();
    secret->value->set(value, 1);
    const auto texts = Watch{*ScanRules::compile({}), {secret}, {}}.texts();
    for (unsigned before = 0; before < 40; ++before) {
      const std::string bytes =
          random_bytes(200, before).substr(before) + value + random_bytes(90, 1);
      EXPECT_EQ(found_in(texts, in_lines_of(60, base64(bytes), "\n")), "secrets") << value;
      EXPECT_EQ(found_in(texts, base64(hex_of(bytes))), "secrets") << value;
      EXPECT_EQ(found_in(texts, base64(base64(bytes))), "secrets") << value;
    }
  }
}

// Random mixtures of keys, parts of keys, text and bytes, in random layers of encodings.
TEST(Binary, LeftOutOrNotTheSameIsFound) {
  std::mt19937 numbers{7};
  const auto keys = tokens(), private_ones = private_keys();
  const std::vector<std::string> others{
      "4539 5787 6362 1486",
      "DE75512108001245126199",
      "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
      "laptop soccer kangaroo trumpet moon fatal portion never stand brave medal hair",
      "-----BEGIN \xff PRIVATE KEY-----\x80\x80\n",
      "ordinary text",
      "%41",
      "\\u0041",
      "\x1f\x8b\x08"};
  const auto part = [&]() -> std::string {
    switch (const auto seed = static_cast<unsigned>(numbers()); seed % 6) {
      case 0:
        return random_bytes(numbers() % 600, seed);
      case 1:
        return random_text(numbers() % 60, seed);
      case 2: {
        const std::string& key = keys[numbers() % keys.size()].text;
        return key.substr(0, numbers() % 4 == 0 ? key.size() : numbers() % key.size());
      }
      case 3: {
        const std::string& key = private_ones[numbers() % private_ones.size()].text;
        return numbers() % 4 == 0 ? key : key.substr(numbers() % key.size());
      }
      default:
        return others[numbers() % others.size()];
    }
  };
  std::size_t found = 0;
  constexpr std::size_t rounds = 3000;
  for (std::size_t round = 0; round < rounds; ++round) {
    std::string text;
    for (auto left = numbers() % 4; left < 4; ++left) text += part();
    for (auto layer = numbers() % 3; layer < 3; ++layer) {
      switch (numbers() % 7) {
        case 0:
          text = in_lines_of(64, base64(text), "\n");
          break;
        case 1:
          text = url_base64(text);
          break;
        case 2:
          text = hex_of(text);
          break;
        case 3:
          text = gzip(text);
          break;
        case 4:
          text = percent(text, false);
          break;
        default:
          text = base64(text);
      }
      if (numbers() % 3 == 0) text.insert(0, random_text(numbers() % 5, 3));
    }
    const std::string names = found_in(all_sets(), text);
    ASSERT_EQ(names, found_in(without_leaving_out(), text)) << round;
    found += names.empty() ? 0U : 1U;
  }
  EXPECT_GT(found, rounds / 10);
  EXPECT_LT(found, rounds * 9 / 10);
}

}  // namespace
}  // namespace stile::scan
