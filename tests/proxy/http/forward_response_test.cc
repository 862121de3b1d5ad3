// Response heads for the client: framing by what the client understands, nothing of one hop.
#include <gtest/gtest.h>

#include <string>

#include "proxy/http/forward.h"
#include "tests/proxy/http/scan.h"

namespace stile::http {
namespace {

struct Client {
  bool is_1_1 = true;
  bool keep_alive = true;
  bool head_request = false;
};

std::string forward_response(const std::string& text, const Client& client = {}) {
  const auto scanned = scan_response(text, client.head_request);
  EXPECT_EQ(scanned.result.state, ParseState::complete) << text << scanned.result.error;
  std::string out;
  write_response_head(out, scanned.head, framing_for_client(scanned.head, client.is_1_1),
                      client.is_1_1, client.keep_alive);
  return out;
}

TEST(ForwardResponse, WritesTheHeadAnew) {
  EXPECT_EQ(forward_response("HTTP/1.0 404 Not  Found\r\nserver:x\r\nContent-Length: 05\r\n\r\n"),
            "HTTP/1.1 404 Not  Found\r\nserver: x\r\nVia: 1.0 stile\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(forward_response("HTTP/1.1 200\r\nContent-Length: 0\r\nVia: 1.1 x\r\n\r\n"),
            "HTTP/1.1 200 \r\nVia: 1.1 x, 1.1 stile\r\nContent-Length: 0\r\n\r\n");
}

TEST(ForwardResponse, FramesBodiesOfUnknownLengthByTheClientsVersion) {
  for (const std::string text :
       {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n"}) {
    EXPECT_EQ(forward_response(text),
              "HTTP/1.1 200 OK\r\nVia: 1.1 stile\r\nTransfer-Encoding: chunked\r\n\r\n");
    EXPECT_EQ(forward_response(text, {.is_1_1 = false}),
              "HTTP/1.1 200 OK\r\nVia: 1.1 stile\r\nConnection: close\r\n\r\n");
  }
}

TEST(ForwardResponse, SaysWhetherTheConnectionStaysOpen) {
  const std::string text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
  const std::string begin = "HTTP/1.1 200 OK\r\nVia: 1.1 stile\r\nContent-Length: 5\r\n";
  EXPECT_EQ(forward_response(text), begin + "\r\n");
  EXPECT_EQ(forward_response(text, {.keep_alive = false}), begin + "Connection: close\r\n\r\n");
  EXPECT_EQ(forward_response(text, {.is_1_1 = false}), begin + "Connection: keep-alive\r\n\r\n");
  EXPECT_EQ(forward_response(text, {.is_1_1 = false, .keep_alive = false}),
            begin + "Connection: close\r\n\r\n");
}

TEST(ForwardResponse, DropsHopByHopFieldsAndWhatConnectionNames) {
  const std::string bare = forward_response("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
  for (const std::string fields :
       {"Connection: close\r\n", "Keep-Alive: timeout=5\r\n", "Trailer: X\r\n", "Upgrade: h2c\r\n",
        "Proxy-Authenticate: Basic\r\n", "Proxy-Connection: close\r\n", "TE: x\r\n",
        "Connection: X-Hop\r\nX-Hop: 1\r\n"}) {
    EXPECT_EQ(forward_response("HTTP/1.1 200 OK\r\n" + fields + "Content-Length: 5\r\n\r\n"), bare)
        << fields;
  }
}

TEST(ForwardResponse, NamesALengthWithoutBodyOnlyWhereThatIsRight) {
  const std::string length = "Content-Length: 5\r\n\r\n";
  const auto has_length = [](const std::string& text) {
    return text.find("Content-Length: 5\r\n") != std::string::npos;
  };
  EXPECT_TRUE(has_length(forward_response("HTTP/1.1 200 OK\r\n" + length, {.head_request = true})));
  EXPECT_TRUE(has_length(forward_response("HTTP/1.1 304 Not Modified\r\n" + length)));
  EXPECT_FALSE(has_length(forward_response("HTTP/1.1 204 No Content\r\n" + length)));
  EXPECT_FALSE(has_length(forward_response("HTTP/1.1 103 Early Hints\r\n" + length)));
  // A HEAD that would have had chunks has neither.
  EXPECT_EQ(forward_response("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                             {.head_request = true}),
            "HTTP/1.1 200 OK\r\nVia: 1.1 stile\r\n\r\n");
}

TEST(ForwardResponse, LeavesAnInterimAnswerWithoutConnection) {
  EXPECT_EQ(forward_response("HTTP/1.1 100 Continue\r\n\r\n", {.keep_alive = false}),
            "HTTP/1.1 100 Continue\r\nVia: 1.1 stile\r\n\r\n");
}

}  // namespace
}  // namespace stile::http
