// Scrubber and Gunzip: the same result however the bytes arrive.
#include "proxy/http/scrub.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "base/base64.h"
#include "proxy/http/gunzip.h"

namespace stile::http {
namespace {

std::string in_pieces(Scrubber scrubber, std::string_view text, std::size_t first) {
  std::string out;
  scrubber.feed(text.substr(0, first), out);
  scrubber.feed(text.substr(first), out);
  scrubber.finish(out);
  return out;
}

TEST(Scrubber, ReplacesATextHoweverItIsCut) {
  Scrubber scrubber;
  scrubber.add("secret", "X");
  scrubber.add("secrets", "YY");
  scrubber.add("aab", "Z");
  const struct {
    std::string_view text, expected;
  } cases[] = {
      {"", ""},          {"nothing", "nothing"},
      {"secret", "X"},   {"a secret, secret.", "a X, X."},
      {"secrets", "YY"}, {"secresecret", "secreX"},
      {"aaab", "aZ"},    {"secre", "secre"},
      {"aa", "aa"},
  };
  for (const auto& [text, expected] : cases) {
    // Cut within the longer of two texts the shorter one is found first; nothing gets through.
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
      const std::string out = in_pieces(scrubber, text, cut);
      if (text == "secrets") {
        EXPECT_EQ(out.find("secret"), std::string::npos) << cut;
      } else {
        EXPECT_EQ(out, expected) << text << " cut at " << cut;
      }
    }
    EXPECT_EQ(scrubber.scrub(text), expected);
  }
}

TEST(Scrubber, HoldsBackOnlyTheBeginningOfAText) {
  Scrubber scrubber;
  scrubber.add("secret", "X");
  std::string out;
  scrubber.feed("data: 1\n\n", out);
  EXPECT_EQ(out, "data: 1\n\n");
  scrubber.feed("data: sec", out);
  EXPECT_EQ(out, "data: 1\n\ndata: ");
  scrubber.feed("ret", out);
  EXPECT_EQ(out, "data: 1\n\ndata: X");
}

TEST(Scrubber, FindsAllFormsOfASecret) {
  const std::string value = "sk-real+value/0123456789";
  Scrubber scrubber;
  scrubber.add_secret(value, "P");
  for (const std::string before : {"", "x", "xy", "user:"}) {
    for (const std::string after : {"", "z", "zz"}) {
      const std::string encoded = base64(before + value + after);
      EXPECT_NE(scrubber.scrub(encoded).find('P'), std::string::npos) << encoded;
    }
  }
  EXPECT_EQ(scrubber.scrub("(sk-real%2Bvalue%2F0123456789)"), "(P)");
  EXPECT_EQ(scrubber.scrub("(sk-real%2bvalue%2f0123456789)"), "(P)");
  EXPECT_EQ(scrubber.scrub("(sk-real%2Bvalue/0123456789)"), "(P)");
  EXPECT_EQ(scrubber.scrub("(sk-real%2bvalue/0123456789)"), "(P)");
  EXPECT_EQ(scrubber.scrub(R"({"key":"sk-real+value\/0123456789"})"), R"({"key":"P"})");
  EXPECT_EQ(scrubber.scrub("736b2d7265616c2b76616c75652f30313233343536373839"), "P");
}

// Would take hours if each occurrence were a new search for all forms.
TEST(Scrubber, TakesNoLongerForAnAnswerThatIsFullOfASecret) {
  constexpr std::size_t times = 400'000;
  const std::string value = "sk-value";
  Scrubber scrubber;
  scrubber.add_secret(value, "P");
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += value;
  EXPECT_EQ(scrubber.scrub(text), std::string(times, 'P'));
}

std::string gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(text.size() + 1000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST(Gunzip, DecodesPieceByPieceAndRefusesOtherData) {
  const std::string text(100'000, 'a');
  const std::string packed = gzip(text);
  for (std::size_t cut = 0; cut <= packed.size(); cut += 7) {
    Gunzip decoder;
    std::string out;
    for (std::string_view part :
         {std::string_view{packed}.substr(0, cut), std::string_view{packed}.substr(cut)}) {
      do {
        const std::size_t before = out.size();
        ASSERT_TRUE(decoder.decode(part, out, 1000));
        ASSERT_LE(out.size() - before, 1000U);
        if (out.size() - before < 1000 && part.empty()) break;
      } while (true);
    }
    EXPECT_EQ(out, text);
    EXPECT_TRUE(decoder.is_complete());
  }
  Gunzip decoder;
  std::string out;
  std::string_view junk = "this is not gzip";
  EXPECT_FALSE(decoder.decode(junk, out, 1000));
}

}  // namespace
}  // namespace stile::http
