// Decoding layers: what they read, and where a long run can be cut.
#include "scan/decode.h"

#include <gtest/gtest.h>
#include <re2/re2.h>

#include <algorithm>
#include <random>

#include "base/base64.h"
#include "samples.h"

namespace stile::scan {
namespace {

std::string unescaped(std::string_view text) {
  Bytes room;
  const auto plain = unescape(text, room);
  return plain ? std::string{plain->text} : "(none)";
}

TEST(Unescape, ReadsPercentAndJson) {
  EXPECT_EQ(unescaped("a%41b"), "aAb");
  EXPECT_EQ(unescaped("%2525"), "%25");
  EXPECT_EQ(unescaped(R"(a\u0041b\x42c\/d\"e\\f\ng\t)"), "aAbBc/d\"e\\f\ng\t");
  EXPECT_EQ(unescaped(R"(\u00e9\u4e2d)"), "??");
}

TEST(Unescape, LeavesWhatIsNoEscape) {
  for (const std::string_view text : {"", "abc", "100%", "%", "%4", "%zz", "\\", "\\q", "\\u12",
                                      "\\u12x4", "\\x4", "a\\", "%%"}) {
    EXPECT_EQ(unescaped(text), "(none)") << text;
  }
  EXPECT_EQ(unescaped("%%41%"), "%A%");
}

TEST(Unescape, FindsEscapesAtEveryPlaceOfABlock) {
  for (std::size_t size = 3; size < 70; ++size) {
    for (std::size_t at = 0; at + 3 <= size; ++at) {
      std::string text(size, '.'), expected(size - 2, '.');
      text.replace(at, 3, at % 2 == 0 ? "%2a" : "%2A");
      expected[at] = '*';
      EXPECT_EQ(unescaped(text), expected);
      text.replace(at, 3, "\\t.");
      expected = std::string(size - 1, '.');
      expected[at] = '\t';
      EXPECT_EQ(unescaped(text), expected);
    }
  }
}

// One character after the other: each time the longest escape that is there.
std::string simply_unescaped(std::string_view text) {
  static const RE2 escape{
      R"(^(?:%([[:xdigit:]]{2})|\\x([[:xdigit:]]{2})|\\u([[:xdigit:]]{4})|\\([nrt"'/\\])))"};
  std::string out;
  while (!text.empty()) {
    re2::StringPiece rest{text.data(), text.size()};
    std::string percent, x, u, other;
    if (!RE2::Consume(&rest, escape, &percent, &x, &u, &other)) {
      out += text[0];
      text.remove_prefix(1);
      continue;
    }
    if (const std::string digits = percent + x + u; !digits.empty()) {
      const unsigned long value = std::stoul(digits, nullptr, 16);
      out += digits.size() == 4 && value >= 0x80 ? '?' : static_cast<char>(value);
    } else {
      out += other == "n" ? '\n' : other == "r" ? '\r' : other == "t" ? '\t' : other[0];
    }
    text = {rest.data(), rest.size()};
  }
  return out;
}

// All characters that are a part of some escape, in any order, with more or less between them.
TEST(Unescape, ReadsWhatASimpleReaderReads) {
  std::mt19937 numbers{1};
  constexpr std::string_view parts = "%%\\\\\\\\uxnrt\"'/0234567abcdefAF5c5cg\x80";
  for (unsigned round = 0; round < 30'000; ++round) {
    std::string text = samples::random_text(numbers() % 300, round, parts);
    if (round % 3 == 0) {
      for (char& c : text) c = numbers() % 8 == 0 ? c : 'z';
    }
    Bytes room;
    const auto plain = unescape(text, room);
    const std::string expected = simply_unescaped(text);
    ASSERT_EQ(plain ? std::string{plain->text} : text, expected) << text;
    if (plain && !plain->may_have_more) {
      ASSERT_EQ(simply_unescaped(expected), expected) << text;
    }
  }
}

TEST(Unescape, KnowsWhetherThereMayBeMore) {
  Bytes room;
  EXPECT_FALSE(unescape(R"({\"a\": \"b\/c\td\n\"})", room)->may_have_more);
  for (const std::string_view text :
       {R"(\\n)", R"(\%6e)", "%%334%31", R"(\u00\u0034\u0031)", "%25", "%5cn"}) {
    EXPECT_TRUE(unescape(text, room)->may_have_more) << text;
  }
}

TEST(DecodedRuns, AreReadFromEachOffset) {
  const std::string text = "a text that is long enough";
  for (const std::string before : {"", "x", "xy", "xyz"}) {
    std::string out;
    append_decoded_runs(before + samples::url_base64(text), 0, out);
    EXPECT_NE(out.find(text.substr(0, text.size() - 1)), std::string::npos) << before;
  }
}

// One character after the other, as an alphabet says.
std::string simply_decoded(std::string_view run) {
  constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string out;
  std::uint32_t bits = 0, count = 0;
  for (const char c : run) {
    bits = bits << 6U | static_cast<std::uint32_t>(alphabet.find(c));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count);
  }
  return out;
}

TEST(DecodedRuns, AreDecodedToTheirLastWholeByte) {
  using namespace std::literals;
  for (std::size_t size = 22; size < 90; ++size) {
    const std::string run =
        "_-" + samples::random_text(size - 2, static_cast<unsigned>(size), "AzQ09gZ_-");
    std::string expected;
    for (std::size_t offset = 0; offset < 4; ++offset) {
      expected += simply_decoded(std::string_view{run}.substr(offset)) + "\0"s;
    }
    std::string out;
    append_decoded_runs("(" + run + ")", 0, out);
    EXPECT_EQ(out, expected) << run;
  }
}

TEST(DecodedRuns, AreFoundAtEveryPlaceOfABlock) {
  for (std::size_t before = 0; before < 40; ++before) {
    for (std::size_t size = 20; size < 60; ++size) {
      const std::string run = samples::random_text(size, static_cast<unsigned>(size), "+/-_zZ09");
      for (const std::string edge : {"@", "[", "`", "{", ":", ".", ",", "^", "\x80", "\xff"}) {
        std::string out;
        append_decoded_runs(std::string(before, '.') + edge + run + edge + "abc ", 0, out);
        std::size_t expected = 0;
        for (std::size_t offset = 0; offset < 4; ++offset) expected += 6 * (size - offset) / 8 + 1;
        EXPECT_EQ(out.size(), size < 22 ? 0 : expected) << before << edge << run;
      }
    }
  }
}

TEST(DecodedRuns, AreReadOverLines) {
  const std::string text = samples::random_text(500, 1, "ab cd");
  std::string lines;
  const std::string encoded = base64(text);
  for (std::size_t i = 0; i < encoded.size(); i += 64) lines += encoded.substr(i, 64) + "\n";
  std::string out;
  append_decoded_runs("before\n\n" + lines + "\nafter", 0, out);
  EXPECT_NE(out.find(text), std::string::npos);
}

TEST(DecodedRuns, LeaveShortWordsAlone) {
  std::string out;
  append_decoded_runs("ordinary words, a_long_identifier_x and a hash 0123456789abcdef", 0, out);
  EXPECT_EQ(out, "");
}

TEST(WholeGroup, IsAMultipleOf64FromTheBeginning) {
  const std::string begin = "some words: ";
  for (const std::string line_break : {"\n", "\r\n", "\r", "\n    ", "  \r\n\t"}) {
    for (const std::size_t line : {22U, 40U, 60U, 64U, 76U, 1000U}) {
      std::string text = begin;
      for (int i = 0; i < 6; ++i) text += std::string(line, 'A') + line_break;
      for (std::size_t at = begin.size(); at < text.size(); ++at) {
        const std::size_t from = whole_group_before(text, at);
        ASSERT_LE(from, at);
        ASSERT_LE(at - from, most_back);
        const auto count = std::count(text.begin(), text.begin() + static_cast<int>(from), 'A');
        EXPECT_EQ(count % 64, 0) << at << " of lines of " << line;
      }
    }
  }
  EXPECT_EQ(whole_group_before("not base64:", 11), 11U);
}

}  // namespace
}  // namespace stile::scan
