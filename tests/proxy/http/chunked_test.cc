// Chunked bodies: what comes out, where they end, and what breaks them.
#include "proxy/http/chunked.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace stile::http {
namespace {

using namespace std::string_literals;
using Kind = ChunkedDecoder::Step::Kind;

struct Decoded {
  Kind kind = Kind::need_more;  // how it ended
  std::string body;
  std::size_t consumed = 0;

  friend bool operator==(const Decoded&, const Decoded&) = default;
};

// Gives the decoder the input in pieces of at most `piece` bytes.
Decoded decode(std::string_view input, std::size_t piece, std::size_t max_trailer = 100) {
  ChunkedDecoder decoder{max_trailer};
  Decoded decoded;
  for (std::size_t at = 0; at < input.size(); at += piece) {
    std::string_view rest = input.substr(at, piece);
    for (;;) {
      const auto step = decoder.next(rest);
      rest.remove_prefix(step.consumed);
      decoded.consumed += step.consumed;
      decoded.body += step.data;
      decoded.kind = step.kind;
      if (step.kind == Kind::end || step.kind == Kind::bad) return decoded;
      if (step.kind == Kind::need_more) break;
    }
    EXPECT_TRUE(rest.empty()) << "asks for more, but left some: " << input;
  }
  decoded.kind = decoded.kind == Kind::data ? Kind::need_more : decoded.kind;
  return decoded;
}

Decoded decode_all_ways(std::string_view input, std::size_t max_trailer = 100) {
  const Decoded whole = decode(input, input.size() + 1, max_trailer);
  for (std::size_t piece = 1; piece < 12; ++piece) {
    EXPECT_EQ(decode(input, piece, max_trailer), whole) << input << " in pieces of " << piece;
  }
  return whole;
}

TEST(ChunkedDecoder, GivesTheBodyAndFindsItsEnd) {
  struct Case {
    std::string text, body;
  };
  const std::vector<Case> cases{
      {"0\r\n\r\n", ""},
      {"5\r\nhello\r\n0\r\n\r\n", "hello"},
      {"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", "hello world"},
      {"A\r\n0123456789\r\n0\r\n\r\n", "0123456789"},
      {"00000000000000a\r\n0123456789\r\n0000000000000000\r\n\r\n", "0123456789"},
      {"4\r\n\r\n\r\n\r\n0\r\n\r\n", "\r\n\r\n"},
      {"1;a=b;c=\"d e\"\r\nx\r\n0;last\r\n\r\n", "x"},
      {"1;\r\nx\r\n0\r\n\r\n", "x"},
      {"1\r\nx\r\n0\r\nContent-Length: 5\r\nX-Sum:\r\nx: \xc3\xa4\t\r\n\r\n", "x"},
  };
  for (const Case& c : cases) {
    const Decoded decoded = decode_all_ways(c.text + "NEXT");
    EXPECT_EQ(decoded.kind, Kind::end) << c.text;
    EXPECT_EQ(decoded.body, c.body) << c.text;
    EXPECT_EQ(decoded.consumed, c.text.size()) << c.text;
    for (std::size_t size = 0; size < c.text.size(); ++size) {
      EXPECT_EQ(decode(c.text.substr(0, size), 3).kind, Kind::need_more) << c.text << ' ' << size;
    }
  }
}

TEST(ChunkedDecoder, RefusesAtTheBadByte) {
  // The last byte of each is the bad one.
  const std::vector<std::string> cases{
      "\r",
      "\n",
      " ",
      "g",
      "-",
      "+",
      ";",
      "x",
      "0x",
      "5 ",
      "5\t",
      "5\n",
      "5\rh",
      "5\r\r",
      "00000000000000000",
      "10000000000000000",
      "5;\n",
      "5;\0"s,
      "5;a\x01",
      "5;a\x7f",
      "5;a=\"\n",
      "5\r\nhellox",
      "5\r\nhello\n",
      "5\r\nhello\rx",
      "5\r\nhello\r\n\r",
      "0\r\n\n",
      "0\r\n ",
      "0\r\n:",
      "0\r\n\rx",
      "0\r\nA ",
      "0\r\nA\r",
      "0\r\nA: b\n",
      "0\r\nA: b\rx",
      "0\r\nA: b\0"s,
      "0\r\nA: b\r\n ",
      "0\r\n\x80",
  };
  for (const std::string& text : cases) {
    const Decoded decoded = decode_all_ways(text + "0\r\n\r\n");
    EXPECT_EQ(decoded.kind, Kind::bad) << testing::PrintToString(text);
    EXPECT_EQ(decoded.consumed, text.size()) << testing::PrintToString(text);
  }
}

TEST(ChunkedDecoder, StaysBrokenAndStaysDone) {
  ChunkedDecoder broken{100};
  EXPECT_EQ(broken.next("x").kind, Kind::bad);
  EXPECT_EQ(broken.next("0\r\n\r\n").kind, Kind::bad);
  ChunkedDecoder done{100};
  EXPECT_EQ(done.next("0\r\n\r\n").kind, Kind::end);
  const auto again = done.next("5\r\nhello\r\n");
  EXPECT_EQ(again.kind, Kind::end);
  EXPECT_EQ(again.consumed, 0u);
}

TEST(ChunkedDecoder, CountsSizesUpTo63BitsAndRefusesMore) {
  EXPECT_EQ(ChunkedDecoder{100}.next("8000000000000000\r\nabc").kind, Kind::bad);
  ChunkedDecoder decoder{100};
  const auto step = decoder.next("7fffffffffffffff\r\nabc");
  EXPECT_EQ(step.kind, Kind::data);
  EXPECT_EQ(step.data, "abc");
  EXPECT_EQ(decoder.next("def").data, "def");
}

TEST(ChunkedDecoder, BoundsTheChunkLine) {
  const auto line = [](std::size_t bytes) { return "1;" + std::string(bytes - 2, 'x') + "\r\n"; };
  const std::string rest = "y\r\n0\r\n\r\n";
  EXPECT_EQ(decode(line(ChunkedDecoder::max_chunk_line) + rest, 1000).kind, Kind::end);
  EXPECT_EQ(decode(line(ChunkedDecoder::max_chunk_line + 1) + rest, 1000).kind, Kind::bad);
  // Each line has the whole bound to itself.
  std::string many;
  for (int i = 0; i < 10; ++i) many += line(ChunkedDecoder::max_chunk_line) + "y\r\n";
  EXPECT_EQ(decode(many + "0\r\n\r\n", 1000).kind, Kind::end);
}

TEST(ChunkedDecoder, BoundsAllTrailersTogether) {
  const std::string trailers = "A: 1234\r\nB: 1234\r\n";
  EXPECT_EQ(decode_all_ways("0\r\n" + trailers + "\r\n", trailers.size()).kind, Kind::end);
  EXPECT_EQ(decode_all_ways("0\r\n" + trailers + "\r\n", trailers.size() - 1).kind, Kind::bad);
  EXPECT_EQ(decode_all_ways("0\r\n\r\n", 0).kind, Kind::end);
}

}  // namespace
}  // namespace stile::http
