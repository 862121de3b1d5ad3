// Request heads for the origin: what goes on, what ends at the proxy, what it adds.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proxy/http/forward.h"
#include "tests/proxy/http/scan.h"

namespace stile::http {
namespace {

const std::vector<std::string> default_strip{"authorization", "proxy-authorization", "x-api-key"};

struct Forwarded {
  std::string text;
  std::vector<std::string_view> stripped;
};

Forwarded forward(const std::string& text, std::string_view authority = "a.test",
                  const std::vector<std::string>& strip = default_strip) {
  const auto scanned = scan_request(text);
  EXPECT_EQ(scanned.result.state, ParseState::complete) << text << scanned.result.error;
  const auto target = parse_absolute_target(scanned.head.target);
  EXPECT_TRUE(target) << text;
  Forwarded forwarded;
  if (!target) return forwarded;
  write_request_head(forwarded.text, scanned.head, *target, authority, scanned.head.framing, strip,
                     forwarded.stripped);
  return forwarded;
}

std::string forward_fields(const std::string& fields) {
  return forward("GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n" + fields + "\r\n").text;
}

TEST(ForwardRequest, WritesTheHeadAnew) {
  const Forwarded forwarded = forward(
      "POST http://A.Test:80/x?y=z HTTP/1.1\r\nAccept: */*\r\nhost:   A.Test:80\r\n"
      "Content-Length: 005\r\nX-Blanks:\t a  b \r\n\r\n");
  EXPECT_EQ(forwarded.text,
            "POST /x?y=z HTTP/1.1\r\nHost: a.test\r\nAccept: */*\r\nX-Blanks: a  b\r\n"
            "Via: 1.1 stile\r\nContent-Length: 5\r\n\r\n");
  EXPECT_TRUE(forwarded.stripped.empty());
}

TEST(ForwardRequest, WritesTheTargetInOriginForm) {
  struct Case {
    const char *request_line, *forwarded;
  };
  const Case cases[]{
      {"GET http://a.test", "GET / "},
      {"GET http://a.test/", "GET / "},
      {"GET http://a.test?q", "GET /?q "},
      {"GET http://a.test//b.test/?q", "GET //b.test/?q "},
      {"OPTIONS http://a.test", "OPTIONS * "},
      {"OPTIONS http://a.test/", "OPTIONS / "},
      {"OPTIONS http://a.test?q", "OPTIONS /?q "},
  };
  for (const Case& c : cases) {
    const std::string text = std::string{c.request_line} + " HTTP/1.1\r\nHost: a.test\r\n\r\n";
    EXPECT_TRUE(forward(text).text.starts_with(std::string{c.forwarded} + "HTTP/1.1\r\n")) << text;
  }
}

TEST(ForwardRequest, SpeaksHttp11ForAnOldClientAndSaysSoInVia) {
  EXPECT_EQ(
      forward("GET http://a.test:8080/ HTTP/1.0\r\nExpect: 100-continue\r\n\r\n", "a.test:8080")
          .text,
      "GET / HTTP/1.1\r\nHost: a.test:8080\r\nVia: 1.0 stile\r\n\r\n");
}

TEST(ForwardRequest, WritesFramingAnew) {
  const std::string begin = "POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\n";
  EXPECT_EQ(
      forward(begin + "transfer-encoding: CHUNKED\r\n\r\n").text,
      "POST / HTTP/1.1\r\nHost: a.test\r\nVia: 1.1 stile\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(forward(begin + "content-length: 0\r\n\r\n").text,
            "POST / HTTP/1.1\r\nHost: a.test\r\nVia: 1.1 stile\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(forward(begin + "\r\n").text,
            "POST / HTTP/1.1\r\nHost: a.test\r\nVia: 1.1 stile\r\n\r\n");
}

TEST(ForwardRequest, DropsHopByHopFieldsAndWhatConnectionNames) {
  const std::string bare = forward_fields("");
  for (const std::string fields :
       {"Connection: close\r\n", "proxy-connection: keep-alive\r\n", "Keep-Alive: 300\r\n",
        "TE: trailers\r\n", "Trailer: X\r\n", "UPGRADE: h2c\r\n",
        "Proxy-Authorization: Basic x\r\n", "Proxy-Authenticate: x\r\n",
        "Connection: x-a, X-B\r\nX-A: 1\r\nx-b: 2\r\n",
        "X-A: 1\r\nConnection: close\r\nConnection: ,x-a\r\n",
        "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAM\r\n"}) {
    EXPECT_EQ(forward_fields(fields), bare) << fields;
  }
}

TEST(ForwardRequest, PassesOnWhatItDoesNotKnow) {
  const std::string fields =
      "Cookie: a=b\r\nX-Forwarded-For: 1.2.3.4\r\nTEA: x\r\nConnections: y\r\n";
  const std::string text = forward_fields(fields);
  EXPECT_NE(text.find("\r\n" + fields), std::string::npos) << text;
}

TEST(ForwardRequest, AppendsItselfToVia) {
  EXPECT_NE(forward_fields("Via: 1.0 x\r\nvia: 1.1 y (z)\r\nVia:\r\n")
                .find("\r\nVia: 1.0 x, 1.1 y (z), 1.1 stile\r\n"),
            std::string::npos);
}

TEST(ForwardRequest, StripsInAnySpellingAndTellsOnce) {
  const Forwarded forwarded = forward(
      "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nAUTHORIZATION: secret\r\nX-Api-KEY: "
      "secret\r\n"
      "authorization: secret\r\nProxy-Authorization: secret\r\nConnection: x-api-key\r\n\r\n");
  EXPECT_EQ(forwarded.text, forward_fields(""));
  EXPECT_EQ(forwarded.stripped,
            (std::vector<std::string_view>{"authorization", "x-api-key", "proxy-authorization"}));
}

TEST(ForwardRequest, PassesAnExpectationOn) {
  const std::string begin =
      "POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nExpect: 100-continue\r\n";
  EXPECT_NE(forward(begin + "Content-Length: 5\r\n\r\n").text.find("\r\nExpect: 100-continue\r\n"),
            std::string::npos);
  EXPECT_EQ(forward(begin + "\r\n").text.find("Expect"),
            std::string::npos);  // no body to wait with
}

TEST(SmuggledName, IsAnUnderscoreForTheHyphenOfAStrippedField) {
  struct Case {
    const char* name;
    bool is_smuggled;
  };
  const Case cases[]{
      {"X_Api_Key", true},   {"x-api_key", true},   {"X-Api-Key", false},  {"X_Other", false},
      {"X_Api_Keys", false}, {"own_secret", false}, {"own-secret", false}, {"_", false},
  };
  const std::vector<std::string> strip{"x-api-key", "own_secret"};
  for (const Case& c : cases) {
    const std::string text =
        "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n" + std::string{c.name} + ": 1\r\n\r\n";
    const auto scanned = scan_request(text);
    ASSERT_EQ(scanned.result.state, ParseState::complete) << text;
    EXPECT_EQ(has_smuggled_underscore_name(scanned.head, strip), c.is_smuggled) << c.name;
    EXPECT_FALSE(has_smuggled_underscore_name(scanned.head, {})) << c.name;
  }
}

TEST(SmuggledName, IsAnUnderscoreForTheHyphenOfAFramingField) {
  // The parser refuses these; a head that was made otherwise is refused here.
  for (const std::string_view name : {"Content_Length", "transfer_encoding", "Keep_Alive"}) {
    RequestHead head;
    head.fields.push_back({name, "1"});
    EXPECT_TRUE(has_smuggled_underscore_name(head, {})) << name;
  }
}

}  // namespace
}  // namespace stile::http
