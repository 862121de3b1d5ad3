// ClientHello reader: takes bytes from a client, returns the server name or an error. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace stile::tls {

struct Hello {
  enum class State : std::uint8_t {
    need_more,
    complete,
    not_tls,  // anything that is not one whole, well-formed ClientHello in handshake records
  };
  State state = State::need_more;
  bool has_sni = false;
  std::string_view sni;  // as sent; views into the bytes given, or into the reader's buffer
  // Encrypted ClientHello, or GREASE for it: the two look the same by design, and only the holder
  // of the origin's key can tell them apart, so both count.
  bool has_ech = false;
  std::size_t consumed = 0;  // bytes up to the end of the last record of the hello
};

// Reads a stream from its first byte. The caller gathers the stream's bytes in one contiguous
// buffer (bounded by max_stream_bytes) and calls read() with all of it whenever more arrives. The
// reader remembers how far it has read, so that a hello that arrives byte by byte costs linear
// time. Handshake bytes are joined over records; they are copied only if there is more than one
// record. It never asks for more once it has max_stream_bytes, and is done after complete or
// not_tls.
class HelloReader {
 public:
  static constexpr std::size_t max_hello_bytes = 65536;
  // Room for the hello and some record headers: a client that splits it into more is refused.
  static constexpr std::size_t max_stream_bytes = 2 * max_hello_bytes;

  HelloReader() = default;
  // For the hello that answers a HelloRetryRequest; the stream then begins after the first hello.
  // Records that TLS 1.3 clients may send before it, and that servers drop, are part of the stream:
  // change_cipher_spec for compatibility (RFC 8446 D.4; OpenSSL and browsers send it) and early
  // data.
  [[nodiscard]] static HelloReader for_second_hello() noexcept;

  [[nodiscard]] Hello read(std::string_view stream);

 private:
  [[nodiscard]] Hello read_handshake(std::string_view payload, std::size_t length, std::size_t end);

  bool skips_foreign_ = false;   // before a second hello
  std::size_t records_end_ = 0;  // everything before this is whole records
  std::vector<char> joined_;     // their handshake bytes; stays empty for a hello in one record
};

// After the origin's first flight: is it a HelloRetryRequest (RFC 8446 4.1.4)? Reads only the first
// record(s) of the origin's stream, and returns at the first byte that decides: for an ordinary
// ServerHello nearly always the twelfth.
enum class ServerFlight : std::uint8_t { need_more, hello_retry_request, other };
[[nodiscard]] ServerFlight classify_server_flight(std::string_view stream) noexcept;

// TLS alert record, fatal access_denied(49).
inline constexpr std::string_view access_denied_alert{"\x15\x03\x03\x00\x02\x02\x31", 7};

}  // namespace stile::tls
