// Micro-benchmarks of the parsers that every request goes through.
#include <ares.h>
#include <benchmark/benchmark.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <string>
#include <vector>

#include "proxy/dns/answer.h"
#include "proxy/http/forward.h"
#include "proxy/http/head.h"
#include "proxy/tls/client_hello.h"
#include "tests/proxy/tls/hello_bytes.h"

namespace {

using namespace stile;

// As curl sends it.
const std::string connect_head =
    "CONNECT api.origin.test:443 HTTP/1.1\r\nHost: api.origin.test:443\r\nUser-Agent: "
    "curl/7.88.1\r\n"
    "Proxy-Connection: Keep-Alive\r\n\r\n";

// 200 bytes, as a small client sends them.
const std::string get_head =
    "GET http://api.origin.test/v1/messages?limit=20 HTTP/1.1\r\nHost: api.origin.test\r\n"
    "User-Agent: python-requests/2.28.1\r\nAccept-Encoding: gzip, deflate\r\nAccept: */*\r\n"
    "Connection: keep-alive\r\n\r\n";

const std::string response_head =
    "HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Sun, 16 Nov 2026 09:00:00 GMT\r\n"
    "Content-Type: application/json\r\nContent-Length: 1024\r\nConnection: keep-alive\r\n"
    "Cache-Control: no-store\r\nETag: \"5f3e-1a2b\"\r\n\r\n";

// With a name, and as many further extensions as clients have, one of them large: a key share.
std::string hello(std::size_t key_share_bytes) {
  std::string extensions = tls::server_name("api.origin.test");
  for (std::size_t type = 10; type < 25; ++type) extensions += tls::extension(type, "12345678");
  return tls::hello_with_extensions(extensions +
                                    tls::extension(51, std::string(key_share_bytes, 'k')));
}

void scan_request(benchmark::State& state, const std::string& text) {
  http::RequestHead head;
  while (state.KeepRunning()) {
    http::HeadScanner scanner;
    benchmark::DoNotOptimize(scanner.scan_request(text, head));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK_CAPTURE(scan_request, connect, connect_head);
BENCHMARK_CAPTURE(scan_request, get, get_head);

// The same bytes read by Boost.Beast, which accepts more: docs/decisions/0002-own-http-heads.md.
template <class Parser>
void beast_head(benchmark::State& state, const std::string& text) {
  while (state.KeepRunning()) {
    Parser parser;
    parser.skip(true);
    boost::system::error_code error;
    benchmark::DoNotOptimize(parser.put(boost::asio::buffer(text), error));
    if (error) state.SkipWithError(error.message().c_str());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
void beast_request(benchmark::State& state, const std::string& text) {
  beast_head<boost::beast::http::request_parser<boost::beast::http::empty_body>>(state, text);
}
void beast_response(benchmark::State& state, const std::string& text) {
  beast_head<boost::beast::http::response_parser<boost::beast::http::empty_body>>(state, text);
}
BENCHMARK_CAPTURE(beast_request, connect, connect_head);
BENCHMARK_CAPTURE(beast_request, get, get_head);
BENCHMARK_CAPTURE(beast_response, response, response_head);

// The worst way for it to come: one byte at a time.
void trickle_request(benchmark::State& state) {
  http::RequestHead head;
  while (state.KeepRunning()) {
    http::HeadScanner scanner;
    for (std::size_t size = 1; size <= get_head.size(); ++size) {
      benchmark::DoNotOptimize(scanner.scan_request({get_head.data(), size}, head));
    }
  }
}
BENCHMARK(trickle_request);

void scan_response(benchmark::State& state) {
  http::ResponseHead head;
  while (state.KeepRunning()) {
    http::HeadScanner scanner;
    benchmark::DoNotOptimize(scanner.scan_response(response_head, head, false));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(response_head.size()));
}
BENCHMARK(scan_response);

void forward_request(benchmark::State& state) {
  http::HeadScanner scanner;
  http::RequestHead head;
  if (scanner.scan_request(get_head, head).state != http::ParseState::complete) return;
  const std::vector<std::string> strip{"authorization", "proxy-authorization", "x-api-key"};
  std::vector<std::string_view> stripped;
  std::string out;
  while (state.KeepRunning()) {
    out.clear();
    const auto target = http::parse_absolute_target(head.target);
    benchmark::DoNotOptimize(http::has_smuggled_underscore_name(head, strip));
    http::write_request_head(out, head, *target, "api.origin.test", head.framing, strip, stripped);
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK(forward_request);

void read_hello(benchmark::State& state, std::size_t key_share_bytes) {
  const std::string stream = hello(key_share_bytes);
  while (state.KeepRunning()) {
    tls::HelloReader reader;
    benchmark::DoNotOptimize(reader.read(stream));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(stream.size()));
}
BENCHMARK_CAPTURE(read_hello, classic, 38);
BENCHMARK_CAPTURE(read_hello, post_quantum, 1263);

// oRigIn.tEst: two addresses, owners compressed.
constexpr std::array<std::uint8_t, 61> packet{
    0x12, 0x34, 0x81, 0x80, 0,   1,   0,   2,   0, 0,   0, 0, 6, 'o',  'R',  'i',
    'g',  'I',  'n',  4,    't', 'E', 's', 't', 0, 0,   1, 0, 1, 0xc0, 0x0c, 0,
    1,    0,    1,    0,    0,   0,   60,  0,   4, 192, 0, 2, 1, 0xc0, 0x0c, 0,
    1,    0,    1,    0,    0,   0,   60,  0,   4, 192, 0, 2, 2};

void read_dns_answer(benchmark::State& state) {
  while (state.KeepRunning()) {
    benchmark::DoNotOptimize(dns::read_answer(packet, "oRigIn.tEst", dns::Rtype::a));
  }
}
BENCHMARK(read_dns_answer);

// The same packet read by c-ares, which does not look at the letters of the question.
void cares_dns_answer(benchmark::State& state) {
  while (state.KeepRunning()) {
    std::array<ares_addrttl, 8> addresses{};
    int count = addresses.size();
    benchmark::DoNotOptimize(
        ares_parse_a_reply(packet.data(), packet.size(), nullptr, addresses.data(), &count));
  }
}
BENCHMARK(cares_dns_answer);

}  // namespace
