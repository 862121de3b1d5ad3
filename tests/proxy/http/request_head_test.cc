// Request heads: what is read from them, what is refused, and at which byte.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/ascii.h"
#include "proxy/http/head.h"
#include "tests/proxy/http/scan.h"

namespace stile::http {
namespace {

using namespace std::string_literals;

std::string get(std::string_view fields) {
  return "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n" + std::string{fields} + "\r\n";
}

std::string post(std::string_view fields) {
  return "POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\n" + std::string{fields} + "\r\n";
}

TEST(RequestHead, IsTakenApart) {
  const std::string text =
      "GET http://a.test/x?y HTTP/1.1\r\nHost: a.test\r\nX-Empty:\r\nx-blanks: \t two  words\t "
      "\r\n\r\n";
  const auto scanned = scan_request(text + "rest");
  ASSERT_EQ(scanned.result.state, ParseState::complete);
  EXPECT_EQ(scanned.result.consumed, text.size());
  EXPECT_EQ(scanned.decided_after, text.size());
  const RequestHead& head = scanned.head;
  EXPECT_EQ(head.method, "GET");
  EXPECT_EQ(head.target, "http://a.test/x?y");
  EXPECT_EQ(head.minor_version, 1);
  ASSERT_EQ(head.fields.size(), 3u);
  EXPECT_EQ(head.fields[0].name, "Host");
  EXPECT_EQ(head.fields[1].value, "");
  EXPECT_EQ(head.fields[2].name, "x-blanks");
  EXPECT_EQ(head.fields[2].value, "two  words");
  EXPECT_TRUE(head.has_host);
  EXPECT_EQ(head.host, "a.test");
  EXPECT_EQ(head.framing, Framing::none);
  EXPECT_TRUE(head.keep_alive);
  EXPECT_FALSE(head.expects_continue);
  EXPECT_FALSE(head.is_connect);
}

TEST(RequestHead, SkipsEmptyLinesBeforeIt) {
  const std::string text = "\r\n\r\nGET / HTTP/1.0\r\n\r\n";
  const auto scanned = scan_request(text);
  ASSERT_EQ(scanned.result.state, ParseState::complete);
  EXPECT_EQ(scanned.head.method, "GET");
  EXPECT_EQ(scanned.result.consumed, text.size());
  EXPECT_EQ(scan_request("\r\n\r\n").result.state, ParseState::need_more);
  EXPECT_EQ(scan_request("\r\r\n").decided_after, 2u);
}

TEST(RequestHead, NeedsMoreAtEveryEarlierByte) {
  const std::string text = post("Content-Length: 5\r\nAccept: */*\r\n");
  for (std::size_t size = 0; size < text.size(); ++size) {
    HeadScanner scanner;
    RequestHead head;
    const auto result = scanner.scan_request(std::string_view{text}.substr(0, size), head);
    EXPECT_EQ(result.state, ParseState::need_more) << size;
  }
}

TEST(RequestHead, ScannerAndHeadCanBeUsedAgain) {
  HeadScanner scanner;
  RequestHead head;
  const std::string first =
      post("Content-Length: 5\r\nConnection: close\r\nExpect: 100-continue\r\n");
  ASSERT_EQ(scanner.scan_request(first, head).state, ParseState::complete);
  EXPECT_EQ(head.framing, Framing::length);
  const std::string second = get("");
  ASSERT_EQ(scanner.scan_request(second, head).state, ParseState::complete);
  EXPECT_EQ(head.fields.size(), 1u);
  EXPECT_EQ(head.framing, Framing::none);
  EXPECT_TRUE(head.keep_alive);
  EXPECT_FALSE(head.has_content_length);
  EXPECT_FALSE(head.expects_continue);
}

TEST(RequestHead, IsRefusedAtTheFirstByteThatCannotBeValid) {
  // The last byte of each is the bad one.
  const std::vector<std::string> cases{
      "\n",
      "\r\r",
      "\0"s,
      "\x16",  // a TLS client on the wrong port
      " ",
      "(",
      "G\x80",
      "GET\t",
      "GET\r",
      "GET\n",
      "G:",
      "GET  ",
      "GET \r",
      "GET \n",
      "GET \x80",
      "GET /\t",
      "GET /a\0"s,
      "GET /a\x7f",
      "GET /a\xff",
      "GET /a\r",  // HTTP/0.9
      "GET /a\n",
      "GET / h",
      "GET / HTTP/2",
      "GET / HTTP/1.2",
      "GET / HTTP/1.9",
      "GET / HTTP/1.\r",
      "GET / HTTP/1.1 ",
      "GET / HTTP/1.11",
      "GET / HTTP/1.1\n",
      "GET / HTTP/1.1\rH",
      "GET / HTTP/1.1\r\r",
      "GET / HTTP/1.1\r\n\n",
      "GET / HTTP/1.1\r\n ",  // obs-fold of the request line
      "GET / HTTP/1.1\r\n\t",
      "GET / HTTP/1.1\r\n:",
      "GET / HTTP/1.1\r\n\x80",
      "GET / HTTP/1.1\r\n\0"s,
      "GET / HTTP/1.1\r\nHost ",
      "GET / HTTP/1.1\r\nHost\t",
      "GET / HTTP/1.1\r\nHost\r",
      "GET / HTTP/1.1\r\nHost\n",
      "GET / HTTP/1.1\r\nHo(",
      "GET / HTTP/1.1\r\nHo\0"s,
      "GET / HTTP/1.1\r\nHo\xc3",
      "GET / HTTP/1.1\r\nHost:\n",
      "GET / HTTP/1.1\r\nHost: a\n",
      "GET / HTTP/1.1\r\nHost: a\ra",
      "GET / HTTP/1.1\r\nHost: a\r\r",
      "GET / HTTP/1.1\r\nHost: a\0"s,
      "GET / HTTP/1.1\r\nHost: a\x01",
      "GET / HTTP/1.1\r\nHost: a\x0b",
      "GET / HTTP/1.1\r\nHost: a\x0c",
      "GET / HTTP/1.1\r\nHost: a\x1f",
      "GET / HTTP/1.1\r\nHost: a\x7f",
      "GET / HTTP/1.1\r\nHost: a\r\n ",  // obs-fold
      "GET / HTTP/1.1\r\nHost: a\r\n\t",
      "GET / HTTP/1.1\r\nHost: a\r\n\n",
      "GET / HTTP/1.1\r\nHost: a\r\n\rX",
  };
  for (const std::string& text : cases) {
    const auto scanned = scan_request(text + "more");
    EXPECT_EQ(scanned.result.state, ParseState::bad) << testing::PrintToString(text);
    EXPECT_EQ(scanned.decided_after, text.size()) << testing::PrintToString(text);
    EXPECT_EQ(scanned.result.error_offset, text.size() - 1) << testing::PrintToString(text);
  }
}

TEST(RequestHead, IsRefusedForEveryControlByteAnywhere) {
  const std::string good = post("Content-Length: 5\r\nX: y\r\n");
  for (std::size_t at = 0; at + 1 < good.size(); ++at) {
    for (int c = 0; c < 0x20; ++c) {
      std::string text = good;
      text.insert(at, 1, static_cast<char>(c));
      if (c == '\t') continue;  // a blank in values
      EXPECT_EQ(scan_request(text).result.state, ParseState::bad) << at << ' ' << c;
    }
  }
}

TEST(RequestHead, TakesHighBytesAndTabsInValuesOnly) {
  const auto scanned =
      scan_request(get("X-Name: Gr\xc3\xbc\xc3\x9f"
                       "e\tan alle\r\n"));
  ASSERT_EQ(scanned.result.state, ParseState::complete);
  EXPECT_EQ(scanned.head.fields[1].value,
            "Gr\xc3\xbc\xc3\x9f"
            "e\tan alle");
}

TEST(RequestHead, HoldsAtMost256Fields) {
  std::string fields;
  for (std::size_t i = 1; i < max_fields; ++i) fields += "a: b\r\n";
  EXPECT_EQ(scan_request(get(fields)).result.state, ParseState::complete);
  const auto scanned = scan_request(get(fields + "a: b\r\n"));
  EXPECT_EQ(scanned.result.state, ParseState::bad);
  EXPECT_EQ(scanned.result.error, "too many fields");
}

struct Framed {
  std::string text;
  Framing framing;
  std::uint64_t length = 0;
};

TEST(RequestHead, TellsHowItsBodyIsFramed) {
  const std::vector<Framed> cases{
      {get(""), Framing::none},
      {post(""), Framing::none},
      {post("Content-Length: 0\r\n"), Framing::length, 0},
      {post("content-length:42\r\n"), Framing::length, 42},
      {post("Content-Length: 007\r\n"), Framing::length, 7},
      {post("Content-Length: 9223372036854775807\r\n"), Framing::length, 9223372036854775807u},
      {post("Transfer-Encoding: chunked\r\n"), Framing::chunked},
      {post("transfer-encoding:\tCHUNKED \r\n"), Framing::chunked},
      {get("Content-Length: 3\r\n"), Framing::length, 3},
      {"POST / HTTP/1.0\r\nContent-Length: 3\r\n\r\n", Framing::length, 3},
  };
  for (const Framed& framed : cases) {
    const auto scanned = scan_request(framed.text);
    ASSERT_EQ(scanned.result.state, ParseState::complete) << framed.text;
    EXPECT_EQ(scanned.head.framing, framed.framing) << framed.text;
    EXPECT_EQ(scanned.head.content_length, framed.length) << framed.text;
    EXPECT_EQ(scanned.head.has_content_length, framed.framing == Framing::length) << framed.text;
  }
}

TEST(RequestHead, RefusesFramingThatTwoReadersReadTwoWays) {
  const std::vector<std::string> cases{
      // Each of these some library takes, framed one way or the other.
      post("Transfer-Encoding: gzip\r\nContent-Length: 5\r\n"),
      post("Content-Length: 5\r\nTransfer-Encoding: gzip\r\n"),
      post("Transfer-Encoding: chunked, gzip\r\n"),
      post("Transfer-Encoding: gzip, chunked\r\n"),
      post("Transfer-Encoding: xchunked\r\n"),
      post("Transfer-Encoding: chunked x\r\n"),
      post("Transfer-Encoding: chunked;q=1\r\n"),
      post("Transfer-Encoding: \"chunked\"\r\n"),
      post("Transfer-Encoding: chunked,\r\n"),
      post("Transfer-Encoding: ,chunked\r\n"),
      post("Transfer-Encoding: chunked\x80\r\n"),
      post("Transfer-Encoding:\r\n"),
      post("Transfer-Encoding: identity\r\n"),
      post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
      post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"),
      post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"),
      post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
      post("Content-Length: 0\r\nTransfer-Encoding: chunked\r\n"),
      "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
      post("Content-Length: 5, 5\r\n"),
      post("Content-Length: 5\r\nContent-Length: 5\r\n"),
      post("Content-Length: 5\r\nContent-Length: 6\r\n"),
      post("Content-Length:\r\n"),
      post("Content-Length: +5\r\n"),
      post("Content-Length: -5\r\n"),
      post("Content-Length: 5 5\r\n"),
      post("Content-Length: 0x5\r\n"),
      post("Content-Length: 5;\r\n"),
      post("Content-Length: 5.0\r\n"),
      post("Content-Length: \xef\xbc\x95\r\n"),  // fullwidth 5
      post("Content-Length: 9223372036854775808\r\n"),
      post("Content-Length: 18446744073709551621\r\n"),  // 5 in 64 bits
      post("Content-Length: 99999999999999999999999999\r\n"),
      post("Content_Length: 5\r\n"),
      post("Transfer_Encoding: chunked\r\n"),
      post("content_length: 5\r\nContent-Length: 6\r\n"),
  };
  for (const std::string& text : cases) {
    EXPECT_EQ(scan_request(text).result.state, ParseState::bad) << text;
  }
}

TEST(RequestHead, RefusesHopByHopNamesWithUnderscores) {
  for (const std::string name :
       {"Keep_Alive", "proxy_connection", "Proxy_Authorization", "PROXY_AUTHENTICATE"}) {
    EXPECT_EQ(scan_request(get(name + ": x\r\n")).result.state, ParseState::bad) << name;
  }
  EXPECT_EQ(scan_request(get("X_Other_Name: x\r\n")).result.state, ParseState::complete);
}

TEST(RequestHead, NeedsExactlyOneHostInHttp11) {
  EXPECT_EQ(scan_request("GET / HTTP/1.1\r\n\r\n").result.state, ParseState::bad);
  EXPECT_EQ(scan_request("GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n").result.state,
            ParseState::bad);
  EXPECT_EQ(scan_request("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n").result.state,
            ParseState::bad);
  const auto without = scan_request("GET / HTTP/1.0\r\n\r\n");
  EXPECT_EQ(without.result.state, ParseState::complete);
  EXPECT_FALSE(without.head.has_host);
  const auto empty = scan_request("GET / HTTP/1.1\r\nHost:\r\n\r\n");
  EXPECT_EQ(empty.result.state, ParseState::complete);
  EXPECT_TRUE(empty.head.has_host);
  EXPECT_EQ(empty.head.host, "");
}

TEST(RequestHead, OfConnectHasNoBodyAndMayLackHost) {
  const auto scanned = scan_request("CONNECT a.test:443 HTTP/1.1\r\n\r\n\x16\x03\x01");
  ASSERT_EQ(scanned.result.state, ParseState::complete);
  EXPECT_TRUE(scanned.head.is_connect);
  EXPECT_EQ(scanned.head.target, "a.test:443");
  EXPECT_EQ(scanned.result.consumed, 31u);
  const auto connect = [](std::string_view fields) {
    return scan_request("CONNECT a.test:443 HTTP/1.1\r\n" + std::string{fields} + "\r\n")
        .result.state;
  };
  EXPECT_EQ(connect("Host: b.test\r\n"), ParseState::complete);
  EXPECT_EQ(connect("Host: a\r\nHost: a\r\n"), ParseState::bad);
  EXPECT_EQ(connect("Content-Length: 0\r\n"), ParseState::bad);
  EXPECT_EQ(connect("Content-Length: 5\r\n"), ParseState::bad);
  EXPECT_EQ(connect("Transfer-Encoding: chunked\r\n"), ParseState::bad);
  EXPECT_FALSE(scan_request("connect a.test:443 HTTP/1.0\r\n\r\n").head.is_connect);
}

TEST(RequestHead, StaysOpenByVersionAndConnection) {
  struct Case {
    const char* text;
    bool keep_alive;
  };
  const Case cases[]{
      {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", true},
      {"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", false},
      {"GET / HTTP/1.1\r\nHost: a\r\nConnection: Keep-Alive\r\n\r\n", true},
      {"GET / HTTP/1.1\r\nHost: a\r\nConnection: x, CLOSE ,y\r\n\r\n", false},
      {"GET / HTTP/1.1\r\nHost: a\r\nProxy-Connection: close\r\n\r\n", false},
      {"GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n", false},
      {"GET / HTTP/1.1\r\nHost: a\r\nConnection: closed\r\n\r\n", true},
      {"GET / HTTP/1.1\r\nHost: a\r\nConnection:\r\n\r\n", true},
      {"GET / HTTP/1.1\r\nHost: a\r\nConnection: ,, close,\r\n\r\n", false},
      {"GET / HTTP/1.0\r\n\r\n", false},
      {"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", true},
      {"GET / HTTP/1.0\r\nProxy-Connection: Keep-Alive\r\n\r\n", true},
      {"GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n", false},
  };
  for (const Case& c : cases) {
    const auto scanned = scan_request(c.text);
    ASSERT_EQ(scanned.result.state, ParseState::complete) << c.text;
    EXPECT_EQ(scanned.head.keep_alive, c.keep_alive) << c.text;
  }
}

TEST(RequestHead, RefusesConnectionsThatNameFramingOrAreNoTokens) {
  for (const std::string value :
       {"Host", "close, host", "Content-Length", "TRANSFER-ENCODING", "content_length", "a b",
        "a;b", "\"close\"", "close,\x80", "a:b"}) {
    EXPECT_EQ(scan_request(get("Connection: " + value + "\r\n")).result.state, ParseState::bad)
        << value;
    EXPECT_EQ(scan_request(get("Proxy-Connection: " + value + "\r\n")).result.state,
              ParseState::bad)
        << value;
  }
  std::string options;
  for (std::size_t i = 0; i < max_connection_options; ++i) options += "x,";
  EXPECT_EQ(scan_request(get("Connection: " + options + "\r\n")).result.state,
            ParseState::complete);
  EXPECT_EQ(scan_request(get("Connection: " + options + "x\r\n")).result.state, ParseState::bad);
}

TEST(RequestHead, KnowsOneExpectation) {
  const std::string length = "Content-Length: 5\r\n";
  EXPECT_TRUE(scan_request(post(length + "Expect: 100-continue\r\n")).head.expects_continue);
  EXPECT_TRUE(scan_request(post(length + "expect: 100-Continue\r\n")).head.expects_continue);
  EXPECT_FALSE(scan_request(post("Expect: 100-continue\r\n")).head.expects_continue);
  // RFC 9110 10.1.1: an HTTP/1.0 client knows no 100, so its expectation is ignored.
  const auto old =
      scan_request("POST / HTTP/1.0\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(old.result.state, ParseState::complete);
  EXPECT_FALSE(old.head.expects_continue);
  for (const std::string value : {"", "200-ok", "100-continue, x", "100-continue;x", "100"}) {
    std::string fields = length;
    fields.append("Expect: ").append(value).append("\r\n");
    EXPECT_EQ(scan_request(post(fields)).result.state, ParseState::bad) << value;
  }
  const std::string twice = "Expect: 100-continue\r\nExpect: 100-continue\r\n";
  EXPECT_EQ(scan_request(post(length + twice)).result.state, ParseState::bad);
}

TEST(FieldNames, AreEqualWithoutCaseOnly) {
  EXPECT_TRUE(equal_ignoring_case("Content-LENGTH", "content-length"));
  EXPECT_FALSE(equal_ignoring_case("content_length", "content-length"));
  EXPECT_FALSE(equal_ignoring_case("content-lengt", "content-length"));
  EXPECT_FALSE(equal_ignoring_case("[", "{"));  // differ by the bit that tells cases apart
  EXPECT_FALSE(equal_ignoring_case("\xc3\x84", "\xc3\xa4"));
}

}  // namespace
}  // namespace stile::http
