// ClientHello reader: joins the records first, then reads the message to its last byte.
#include "proxy/tls/client_hello.h"

#include <algorithm>
#include <array>
#include <bitset>

namespace stile::tls {
namespace {

constexpr std::uint8_t change_cipher_spec = 20, handshake = 22, application_data = 23;  // records
constexpr std::uint8_t client_hello = 1, server_hello = 2;  // handshake types
constexpr std::size_t record_header_bytes = 5, message_header_bytes = 4;

std::uint8_t byte_at(std::string_view text, std::size_t index) noexcept {
  return static_cast<std::uint8_t>(text[index]);
}

std::size_t record_length(std::string_view header) noexcept {
  return static_cast<std::size_t>(byte_at(header, 3)) << 8 | byte_at(header, 4);
}

// RFC 8446 5.1, 5.2: the size limits of a record, in the clear or encrypted.
std::size_t max_length(std::uint8_t record_type) noexcept {
  if (record_type == change_cipher_spec) return 1;
  return record_type == application_data ? 16384 + 256 : 16384;
}

// Reads numbers and length-prefixed vectors; a read beyond the end makes it fail for good.
class Cursor {
 public:
  explicit Cursor(std::string_view text) noexcept : rest_{text} {}

  [[nodiscard]] bool failed() const noexcept { return failed_; }
  [[nodiscard]] bool at_end() const noexcept { return rest_.empty(); }

  std::string_view take(std::size_t count) noexcept {
    if (count > rest_.size()) {
      failed_ = true;
      rest_ = {};
      return {};
    }
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  std::size_t u8() noexcept { return number(1); }
  std::size_t u16() noexcept { return number(2); }
  std::string_view vector8() noexcept { return take(u8()); }
  std::string_view vector16() noexcept { return take(u16()); }

 private:
  std::size_t number(std::size_t width) noexcept {
    std::size_t value = 0;
    for (const char c : take(width)) value = value << 8 | static_cast<std::uint8_t>(c);
    return value;
  }

  std::string_view rest_;
  bool failed_ = false;
};

Hello refused() noexcept {
  Hello hello;
  hello.state = Hello::State::not_tls;
  return hello;
}

// RFC 6066 3 would allow several names and types; then the origin might use another one than the
// one that was checked here.
bool read_server_name(std::string_view extension, Hello& hello) noexcept {
  constexpr std::size_t host_name = 0;
  Cursor outer{extension};
  Cursor list{outer.vector16()};
  const std::size_t type = list.u8();
  const std::string_view name = list.vector16();
  if (outer.failed() || !outer.at_end() || list.failed() || !list.at_end()) return false;
  if (type != host_name || name.empty() || name.find('\0') != std::string_view::npos) return false;
  hello.has_sni = true;
  hello.sni = name;
  return true;
}

bool read_extensions(std::string_view extensions, Hello& hello) noexcept {
  constexpr std::size_t server_name = 0, encrypted_client_hello = 0xfe0d;
  constexpr std::size_t encrypted_server_name = 0xffce;  // ECH's predecessor
  std::bitset<65536> seen;  // duplicate types: one reader takes the first, another the last
  Cursor cursor{extensions};
  while (!cursor.at_end()) {
    const std::size_t type = cursor.u16();
    const std::string_view content = cursor.vector16();
    if (cursor.failed() || seen[type]) return false;
    seen[type] = true;
    if (type == server_name && !read_server_name(content, hello)) return false;
    if (type == encrypted_client_hello || type == encrypted_server_name) hello.has_ech = true;
  }
  return true;
}

// RFC 8446 4.1.2, to the last byte: another reader might interpret leftover bytes.
Hello parse_body(std::string_view body) noexcept {
  Cursor cursor{body};
  const std::size_t major_version = cursor.u8();
  cursor.take(1 + 32);  // minor version, random
  const std::string_view session_id = cursor.vector8();
  const std::string_view cipher_suites = cursor.vector16();
  const std::string_view compression_methods = cursor.vector8();
  if (cursor.failed() || major_version != 3 || session_id.size() > 32) return refused();
  if (cipher_suites.size() < 2 || cipher_suites.size() % 2 != 0) return refused();
  if (compression_methods.empty()) return refused();

  Hello hello;
  hello.state = Hello::State::complete;
  if (cursor.at_end()) return hello;  // before TLS 1.3 the extensions are optional
  const std::string_view extensions = cursor.vector16();
  if (cursor.failed() || !cursor.at_end() || !read_extensions(extensions, hello)) return refused();
  return hello;
}

// The message's length as far as its first bytes are there. Missing bytes count as 0, so the result
// is never too large.
struct MessageHeader {
  std::size_t known = 0;
  std::size_t type = client_hello;
  std::size_t length = 0;
};

MessageHeader peek_message(std::string_view before, std::string_view payload) noexcept {
  MessageHeader header;
  for (; header.known < message_header_bytes; ++header.known) {
    const std::size_t i = header.known;
    if (i >= before.size() + payload.size()) break;
    const std::uint8_t b =
        i < before.size() ? byte_at(before, i) : byte_at(payload, i - before.size());
    if (i == 0) {
      header.type = b;
    } else {
      header.length |= static_cast<std::size_t>(b) << (8 * (message_header_bytes - 1 - i));
    }
  }
  return header;
}

}  // namespace

HelloReader HelloReader::for_second_hello() noexcept {
  HelloReader reader;
  reader.skips_foreign_ = true;
  return reader;
}

Hello HelloReader::read(std::string_view stream) {
  if (stream.size() < records_end_) return refused();
  for (;;) {
    // Each byte of a record's header is checked as soon as it arrives: a client that does not speak
    // TLS (SSH, HTTP, an SSLv2 hello) is refused at once, not at the deadline.
    const std::string_view record = stream.substr(records_end_);
    const std::uint8_t type = record.empty() ? handshake : byte_at(record, 0);
    const bool is_skipped =
        skips_foreign_ && (type == change_cipher_spec || type == application_data);
    if (type != handshake && !is_skipped) return refused();
    if (record.size() > 1 && byte_at(record, 1) != 3) return refused();
    if (record.size() > 3 && byte_at(record, 3) > max_length(type) >> 8) return refused();
    if (records_end_ + record_header_bytes >= max_stream_bytes) return refused();
    if (record.size() < record_header_bytes) return {};

    const std::size_t length = record_length(record);
    const std::size_t end = records_end_ + record_header_bytes + length;
    if (length == 0 || length > max_length(type) || end > max_stream_bytes) return refused();
    const std::string_view payload = record.substr(record_header_bytes, length);

    if (type == handshake) {
      skips_foreign_ = false;
      const Hello hello = read_handshake(payload, length, end);
      if (hello.state != Hello::State::need_more || payload.size() < length) return hello;
    } else {
      if (type == change_cipher_spec && !payload.empty() && byte_at(payload, 0) != 1)
        return refused();
      if (payload.size() < length) return {};
    }
    records_end_ = end;
  }
}

// `payload` is the received part of a record's `length` bytes; the record ends at `end`.
Hello HelloReader::read_handshake(std::string_view payload, std::size_t length, std::size_t end) {
  const MessageHeader header = peek_message({joined_.data(), joined_.size()}, payload);
  if (header.type != client_hello || header.length > max_hello_bytes) return refused();
  const bool is_length_known = header.known == message_header_bytes;
  const std::size_t message_bytes = message_header_bytes + header.length;
  const std::size_t bytes_with_record = joined_.size() + length;
  // More handshake bytes in the hello's last record: they would reach the origin unchecked.
  if (is_length_known && bytes_with_record > message_bytes) return refused();
  if (payload.size() < length) return {};

  const bool is_last = is_length_known && bytes_with_record == message_bytes;
  if (!is_last || !joined_.empty()) joined_.insert(joined_.end(), payload.begin(), payload.end());
  if (!is_last) return {};
  const std::string_view message =
      joined_.empty() ? payload : std::string_view{joined_.data(), joined_.size()};
  Hello hello = parse_body(message.substr(message_header_bytes));
  if (hello.state == Hello::State::complete) hello.consumed = end;
  return hello;
}

ServerFlight classify_server_flight(std::string_view stream) noexcept {
  // RFC 8446 4.1.3: SHA-256 of "HelloRetryRequest" in place of the server's random.
  constexpr std::array<std::uint8_t, 32> retry_random{
      0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c,
      0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb,
      0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c};
  constexpr std::size_t random_begin = message_header_bytes + 2;
  std::size_t seen = 0;  // handshake bytes
  while (!stream.empty()) {
    if (byte_at(stream, 0) != handshake) return ServerFlight::other;
    if (stream.size() > 1 && byte_at(stream, 1) != 3) return ServerFlight::other;
    if (stream.size() < record_header_bytes) break;
    const std::size_t length = record_length(stream);
    if (length == 0) return ServerFlight::other;
    stream.remove_prefix(record_header_bytes);
    for (std::size_t i = 0; i < std::min(length, stream.size()); ++i, ++seen) {
      // The length and version between type and random are ignored: the random alone marks a retry,
      // and a false positive only means one more check.
      if (seen == 0 && byte_at(stream, i) != server_hello) return ServerFlight::other;
      if (seen < random_begin) continue;
      if (byte_at(stream, i) != retry_random[seen - random_begin]) return ServerFlight::other;
      if (seen + 1 == random_begin + retry_random.size()) return ServerFlight::hello_retry_request;
    }
    stream.remove_prefix(std::min(length, stream.size()));
  }
  return ServerFlight::need_more;
}

}  // namespace stile::tls
