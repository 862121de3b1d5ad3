// Response heads: as strict as requests, and the framing of RFC 9112 6.3.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proxy/http/head.h"
#include "tests/proxy/http/scan.h"

namespace stile::http {
namespace {

using namespace std::string_literals;

std::string ok(std::string_view fields) {
  return "HTTP/1.1 200 OK\r\n" + std::string{fields} + "\r\n";
}

TEST(ResponseHead, IsTakenApart) {
  const std::string text = "HTTP/1.0 404 Not Found\r\nServer: x\r\nContent-Length: 3\r\n\r\n";
  const auto scanned = scan_response(text + "abc");
  ASSERT_EQ(scanned.result.state, ParseState::complete);
  EXPECT_EQ(scanned.result.consumed, text.size());
  EXPECT_EQ(scanned.head.status, 404);
  EXPECT_EQ(scanned.head.minor_version, 0);
  EXPECT_EQ(scanned.head.phrase, "Not Found");
  ASSERT_EQ(scanned.head.fields.size(), 2u);
  EXPECT_EQ(scanned.head.framing, Framing::length);
  EXPECT_EQ(scanned.head.content_length, 3u);
  EXPECT_FALSE(scanned.head.keep_alive);
}

TEST(ResponseHead, MayLackThePhrase) {
  for (const std::string line : {"HTTP/1.1 200 \r\n", "HTTP/1.1 200\r\n"}) {
    const auto scanned = scan_response(line + "\r\n");
    ASSERT_EQ(scanned.result.state, ParseState::complete) << line;
    EXPECT_EQ(scanned.head.status, 200) << line;
    EXPECT_EQ(scanned.head.phrase, "") << line;
  }
}

TEST(ResponseHead, IsRefusedAtTheFirstByteThatCannotBeValid) {
  const std::vector<std::string> cases{
      "\r",
      "\n",
      "I",
      "h",
      "<",
      "HTTP/2",
      "HTTP/1.2",
      "HTTP/1.1\r",
      "HTTP/1.1\t",
      "HTTP/1.1  ",
      "HTTP/1.1 0",
      "HTTP/1.1 6",
      "HTTP/1.1 9",
      "HTTP/1.1 2x",
      "HTTP/1.1 20\r",
      "HTTP/1.1 20 ",
      "HTTP/1.1 2000",
      "HTTP/1.1 200\n",
      "HTTP/1.1 200\rX",
      "HTTP/1.1 200 O\n",
      "HTTP/1.1 200 O\0"s,
      "HTTP/1.1 200 O\x01",
      "HTTP/1.1 200 OK\r\n ",
      "HTTP/1.1 200 OK\r\n\n",
      "HTTP/1.1 200 OK\r\nA b",
      "HTTP/1.1 200 OK\r\nA ",
      "HTTP/1.1 200 OK\r\nA: b\n",
      "HTTP/1.1 200 OK\r\nA: b\r\n\t",
      "HTTP/1.1 200 OK\r\nA: b\rc",
      "HTTP/1.1 200 OK\r\nA: \0"s,
  };
  for (std::string text : cases) {
    if (text == "HTTP/1.1 200 OK\r\nA b") text.pop_back();  // refused at the blank already
    const auto scanned = scan_response(text + "more");
    EXPECT_EQ(scanned.result.state, ParseState::bad) << testing::PrintToString(text);
    EXPECT_EQ(scanned.decided_after, text.size()) << testing::PrintToString(text);
  }
}

struct FramedResponse {
  std::string text;
  Framing framing;
  bool keep_alive = true;
  bool head_request = false;
};

TEST(ResponseHead, TellsHowItsBodyIsFramed) {
  const std::string length = "Content-Length: 5\r\n", chunked = "Transfer-Encoding: chunked\r\n";
  const std::vector<FramedResponse> cases{
      {ok(length), Framing::length},
      {ok("Content-Length: 5\r\nContent-Length: 5\r\n"), Framing::length},
      {ok(chunked), Framing::chunked},
      {ok(""), Framing::to_close, false},
      {ok("Connection: keep-alive\r\n"), Framing::to_close, false},
      {ok(length + "Connection: close\r\n"), Framing::length, false},
      {"HTTP/1.0 200 OK\r\n" + length + "\r\n", Framing::length, false},
      {"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n" + length + "\r\n", Framing::length},
      // No body, whatever the fields say: else the next answer begins inside this one.
      {ok(length), Framing::none, true, true},
      {ok(chunked), Framing::none, true, true},
      {ok(""), Framing::none, true, true},
      {"HTTP/1.1 204 No Content\r\n" + length + "\r\n", Framing::none},
      {"HTTP/1.1 204 No Content\r\n" + chunked + "\r\n", Framing::none},
      {"HTTP/1.1 304 Not Modified\r\n" + length + "\r\n", Framing::none},
      {"HTTP/1.1 100 Continue\r\n\r\n", Framing::none},
      {"HTTP/1.1 103 Early Hints\r\n" + length + "\r\n", Framing::none},
      {"HTTP/1.1 101 Switching Protocols\r\n\r\n", Framing::none},
      {"HTTP/1.1 205 Reset Content\r\n" + length + "\r\n", Framing::length},
      {"HTTP/1.1 599 \r\n" + length + "\r\n", Framing::length},
  };
  for (const FramedResponse& framed : cases) {
    const auto scanned = scan_response(framed.text, framed.head_request);
    ASSERT_EQ(scanned.result.state, ParseState::complete) << framed.text;
    EXPECT_EQ(scanned.head.framing, framed.framing) << framed.text;
    EXPECT_EQ(scanned.head.keep_alive, framed.keep_alive) << framed.text;
  }
}

TEST(ResponseHead, KeepsTheLengthOfABodyThatIsNotSent) {
  const auto scanned = scan_response(ok("Content-Length: 5\r\n"), true);
  EXPECT_TRUE(scanned.head.has_content_length);
  EXPECT_EQ(scanned.head.content_length, 5u);
}

TEST(ResponseHead, RefusesFramingThatTwoReadersReadTwoWays) {
  const std::vector<std::string> cases{
      ok("Content-Length: 5\r\nContent-Length: 6\r\n"),
      ok("Content-Length: 5, 5\r\n"),
      ok("Content-Length: -1\r\n"),
      ok("Content-Length:\r\n"),
      ok("Content-Length: 18446744073709551616\r\n"),
      ok("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
      ok("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"),
      ok("Transfer-Encoding: gzip\r\n"),
      ok("Transfer-Encoding: gzip, chunked\r\n"),
      ok("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
      ok("Transfer_Encoding: chunked\r\nContent-Length: 5\r\n"),
      ok("Connection: content-length\r\nContent-Length: 5\r\n"),
      "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
      "HTTP/1.1 204 No Content\r\nTransfer-Encoding: gzip\r\n\r\n",
  };
  for (const std::string& text : cases) {
    EXPECT_EQ(scan_response(text).result.state, ParseState::bad) << text;
    EXPECT_EQ(scan_response(text, true).result.state, ParseState::bad) << text;
  }
}

TEST(ResponseHead, MayComeAfterAnInterimOneFromTheSameScanner) {
  HeadScanner scanner;
  ResponseHead head;
  std::string_view text =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
  const auto interim = scanner.scan_response(text, head, false);
  ASSERT_EQ(interim.state, ParseState::complete);
  EXPECT_EQ(head.status, 100);
  text.remove_prefix(interim.consumed);
  ASSERT_EQ(scanner.scan_response(text, head, false).state, ParseState::complete);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.fields.size(), 1u);
}

}  // namespace
}  // namespace stile::http
