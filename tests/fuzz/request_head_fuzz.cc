// Fuzzes the request head scanner: no arrival, no second reading changes what a head says.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "proxy/http/forward.h"
#include "proxy/http/head.h"
#include "tests/fuzz/arrival.h"
#include "tests/fuzz/check.h"

namespace {

using namespace stile::http;
using stile::fuzz::arrival_sizes;

bool same(const RequestHead& a, const RequestHead& b) {
  if (a.fields.size() != b.fields.size()) return false;
  for (std::size_t i = 0; i < a.fields.size(); ++i) {
    if (a.fields[i].name != b.fields[i].name || a.fields[i].value != b.fields[i].value)
      return false;
  }
  return a.method == b.method && a.target == b.target && a.minor_version == b.minor_version &&
         a.host == b.host && a.has_host == b.has_host && a.framing == b.framing &&
         a.content_length == b.content_length && a.keep_alive == b.keep_alive &&
         a.expects_continue == b.expects_continue && a.is_connect == b.is_connect;
}

void check_head(const RequestHead& head) {
  STILE_FUZZ_CHECK(!head.method.empty() && !head.target.empty());
  STILE_FUZZ_CHECK(head.framing != Framing::to_close);
  STILE_FUZZ_CHECK(head.is_connect || head.has_host || head.minor_version == 0);
  STILE_FUZZ_CHECK(!head.is_connect || head.framing == Framing::none);
  std::size_t lengths = 0, encodings = 0, hosts = 0;
  for (const Field& field : head.fields) {
    lengths += stile::equal_ignoring_case(field.name, "content-length");
    encodings += stile::equal_ignoring_case(field.name, "transfer-encoding");
    hosts += stile::equal_ignoring_case(field.name, "host");
    for (const char c : field.value) {
      STILE_FUZZ_CHECK(c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f));
    }
  }
  STILE_FUZZ_CHECK(lengths + encodings <= 1 && hosts <= 1);
  STILE_FUZZ_CHECK((head.framing == Framing::length) == (lengths == 1));
  STILE_FUZZ_CHECK((head.framing == Framing::chunked) == (encodings == 1));
}

std::string written(const RequestHead& head) {
  std::string text = std::string{head.method} + ' ' + std::string{head.target} + " HTTP/1." +
                     std::to_string(head.minor_version) + "\r\n";
  for (const Field& field : head.fields) {
    text += std::string{field.name} + ": " + std::string{field.value} + "\r\n";
  }
  return text + "\r\n";
}

// What goes to the origin is one head, framed as decided, with nothing of this hop in it.
void check_forwarded(const RequestHead& head) {
  if (head.fields.size() + 3 > max_fields)
    return;  // what is added may be too much for our own scanner
  const auto target = parse_absolute_target(head.target);
  const std::vector<std::string> strip{"authorization", "x-api-key"};
  if (!target || head.is_connect || has_smuggled_underscore_name(head, strip)) return;
  std::string out;
  std::vector<std::string_view> stripped;
  write_request_head(out, head, *target, "origin.test", head.framing, strip, stripped);
  STILE_FUZZ_CHECK(stripped.size() <= strip.size());

  HeadScanner scanner;
  RequestHead forwarded;
  const auto result = scanner.scan_request(out, forwarded);
  STILE_FUZZ_CHECK(result.state == ParseState::complete && result.consumed == out.size());
  STILE_FUZZ_CHECK(forwarded.method == head.method && forwarded.host == "origin.test");
  STILE_FUZZ_CHECK(forwarded.target.front() == '/' || forwarded.target == "*");
  STILE_FUZZ_CHECK(forwarded.framing == head.framing);
  STILE_FUZZ_CHECK(forwarded.content_length == head.content_length);
  STILE_FUZZ_CHECK(forwarded.expects_continue == head.expects_continue || head.minor_version == 1);
  STILE_FUZZ_CHECK(forwarded.fields.size() <= head.fields.size() + 2);
  for (const Field& field : forwarded.fields) {
    for (const std::string_view name :
         {"connection", "proxy-connection", "keep-alive", "te", "trailer", "upgrade",
          "proxy-authorization", "proxy-authenticate", "authorization", "x-api-key"}) {
      STILE_FUZZ_CHECK(!stile::equal_ignoring_case(field.name, name));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  HeadScanner whole, trickled;
  RequestHead head, other;
  const auto result = whole.scan_request(text, head);
  STILE_FUZZ_CHECK(result.consumed <= size);
  STILE_FUZZ_CHECK((result.state == ParseState::bad) == !result.error.empty());

  for (const std::size_t part : arrival_sizes(text)) {
    const auto partial = trickled.scan_request(text.substr(0, part), other);
    if (partial.state == ParseState::need_more) {
      STILE_FUZZ_CHECK(result.state != ParseState::complete || part < result.consumed);
      continue;
    }
    STILE_FUZZ_CHECK(partial.state == result.state && partial.error == result.error &&
                     partial.consumed == result.consumed &&
                     partial.error_offset == result.error_offset);
    break;
  }

  if (result.state != ParseState::complete) return 0;
  STILE_FUZZ_CHECK(same(head, other));
  check_head(head);
  check_forwarded(head);
  const std::string again = written(head);
  HeadScanner rescanned;
  const auto second = rescanned.scan_request(again, other);
  STILE_FUZZ_CHECK(second.state == ParseState::complete && second.consumed == again.size());
  STILE_FUZZ_CHECK(same(head, other));
  return 0;
}
