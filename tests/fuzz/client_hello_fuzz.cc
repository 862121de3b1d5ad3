// Fuzzes the ClientHello reader: how the bytes arrive must not change what they say.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/tls/client_hello.h"
#include "tests/fuzz/arrival.h"
#include "tests/fuzz/check.h"

namespace {

using namespace stile::tls;
using stile::fuzz::arrival_sizes;
using State = Hello::State;

bool same(const Hello& a, const Hello& b) {
  return a.state == b.state && a.has_sni == b.has_sni && a.sni == b.sni && a.has_ech == b.has_ech &&
         a.consumed == b.consumed;
}

void check_arrival(std::string_view stream, const HelloReader& prototype) {
  HelloReader whole = prototype, trickled = prototype;
  const Hello expected = whole.read(stream);
  STILE_FUZZ_CHECK(expected.consumed <= stream.size());
  STILE_FUZZ_CHECK(expected.has_sni == !expected.sni.empty());
  STILE_FUZZ_CHECK(expected.sni.find('\0') == std::string_view::npos);
  if (expected.state == State::need_more) {
    STILE_FUZZ_CHECK(stream.size() < HelloReader::max_stream_bytes);
  }
  for (const std::size_t size : arrival_sizes(stream)) {
    const Hello hello = trickled.read(stream.substr(0, size));
    if (hello.state == State::need_more) {
      STILE_FUZZ_CHECK(expected.state != State::complete || size < expected.consumed);
      continue;
    }
    STILE_FUZZ_CHECK(same(hello, expected));
    return;
  }
  STILE_FUZZ_CHECK(expected.state == State::need_more);
}

// The same message over other records has the same name.
void check_records(std::string_view stream) {
  HelloReader reader;
  const Hello expected = reader.read(stream);
  if (expected.state != State::complete) return;
  std::string message;
  for (std::size_t at = 0; at < expected.consumed;) {
    const std::size_t length = static_cast<std::size_t>(static_cast<std::uint8_t>(stream[at + 3]))
                                   << 8 |
                               static_cast<std::uint8_t>(stream[at + 4]);
    message += stream.substr(at + 5, length);
    at += 5 + length;
  }
  const std::size_t size = 1 + message.size() / 7;
  std::string split;
  for (std::size_t at = 0; at < message.size(); at += size) {
    const std::string part = message.substr(at, size);
    split += {'\x16', '\x03', '\x03', static_cast<char>(part.size() >> 8),
              static_cast<char>(part.size() & 0xff)};
    split += part;
  }
  HelloReader again;
  const Hello hello = again.read(split);
  STILE_FUZZ_CHECK(hello.state == State::complete && hello.sni == expected.sni &&
                   hello.has_ech == expected.has_ech && hello.consumed == split.size());
}

void check_server_flight(std::string_view stream) {
  const ServerFlight expected = classify_server_flight(stream);
  for (const std::size_t size : arrival_sizes(stream)) {
    const ServerFlight flight = classify_server_flight(stream.substr(0, size));
    if (flight == ServerFlight::need_more) continue;
    STILE_FUZZ_CHECK(flight == expected);
    return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view stream{reinterpret_cast<const char*>(data), size};
  check_arrival(stream, HelloReader{});
  check_arrival(stream, HelloReader::for_second_hello());
  check_records(stream);
  check_server_flight(stream);
  return 0;
}
