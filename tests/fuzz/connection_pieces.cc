// What the ends of a fuzzed connection say in one go, so that short inputs get far.
#include "tests/fuzz/connection_pieces.h"

#include <array>
#include <string>

#include "tests/proxy/tls/hello_bytes.h"

namespace stile::fuzz {
namespace {

std::string hello(std::string_view name) {
  return tls::hello_with_extensions(tls::server_name(name));
}

// RFC 8446 4.1.3: a ServerHello with this random asks for another ClientHello.
std::string hello_retry_request() {
  const std::string random{
      "\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91"
      "\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c",
      32};
  return tls::record(tls::message("\x03\x03" + random + std::string(6, '\0'), '\x02'));
}

std::string get(std::string_view host, std::string_view lines = {}) {
  std::string text = "GET http://" + std::string{host} + "/ HTTP/1.1\r\nHost: ";
  return text + std::string{host} + "\r\n" + std::string{lines} + "\r\n";
}

std::string post(std::string_view lines, std::string_view body) {
  return "POST http://a.test/p?q HTTP/1.1\r\nHost: a.test\r\n" + std::string{lines} + "\r\n" +
         std::string{body};
}

}  // namespace

std::string_view client_piece(std::uint8_t number) {
  static const std::array pieces{
      std::string{"CONNECT a.test:443 HTTP/1.1\r\n\r\n"},
      std::string{"CONNECT b.test:443 HTTP/1.1\r\nHost: x\r\n\r\n"},
      std::string{"CONNECT evil.test:443 HTTP/1.1\r\n\r\n"},
      std::string{"CONNECT inside.test:443 HTTP/1.1\r\n\r\n"},
      std::string{"CONNECT a.test:22 HTTP/1.1\r\n\r\n"},
      std::string{"CONNECT c.test:443 HTTP/1.1\r\n\r\n"},
      hello("a.test"),
      hello("b.test"),
      hello("c.test"),
      hello("evil.test"),
      tls::in_records(
          tls::message(tls::HelloParts{.extensions = tls::server_name("a.test")}.body()), 7),
      tls::hello_with_extensions(""),
      tls::hello_with_extensions(tls::server_name("a.test") + tls::extension(0xfe0d, "x")),
      tls::record("application data", '\x17'),
      get("a.test"),
      get("b.test"),
      get("c.test", "X-Secret: 1\r\n"),
      get("evil.test"),
      get("inside.test"),
      get("a.test", "Connection: close\r\nAuthorization: secret\r\n"),
      get("a.test:8080"),
      std::string{"HEAD http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n"},
      std::string{"GET http://a.test/ HTTP/1.0\r\n\r\n"},
      post("Content-Length: 5\r\n", "hello"),
      post("Content-Length: 100000\r\n", "begin"),
      post("Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n0\r\nT: u\r\n\r\n"),
      post("Transfer-Encoding: chunked\r\n", "fff\r\n"),
      post("Expect: 100-continue\r\nContent-Length: 2\r\n", ""),
      post("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
      std::string{"0\r\n\r\n"},
      std::string{"\r\n"},
      std::string{"nonsense\r\n\r\n"},
      std::string{"GET http://127.0.0.1/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"},
  };
  return pieces[number % pieces.size()];
}

std::string_view origin_piece(std::uint8_t number) {
  static const std::array pieces{
      std::string{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"},
      std::string{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"},
      std::string{"HTTP/1.1 200 OK\r\n\r\nuntil the end"},
      std::string{"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"},
      std::string{"HTTP/1.1 204 No Content\r\n\r\n"},
      std::string{"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"},
      std::string{"HTTP/1.1 100 Continue\r\n\r\n"},
      std::string{"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"},
      std::string{"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"},
      std::string{"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nbegin"},
      std::string{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\n"},
      std::string{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok"},
      std::string{"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n"},
      std::string{"HTTP/1.1 500 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"},
      std::string{"nonsense\r\n\r\n"},
      std::string{"\x16\x03\x03\x00\x02hi", 7},
      hello_retry_request(),
      std::string{"0\r\n\r\n"},
  };
  return pieces[number % pieces.size()];
}

}  // namespace stile::fuzz
