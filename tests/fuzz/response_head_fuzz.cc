// Fuzzes the response head scanner; the first byte says whether the request was HEAD.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/http/forward.h"
#include "proxy/http/head.h"
#include "tests/fuzz/arrival.h"
#include "tests/fuzz/check.h"

namespace {

using namespace stile::http;
using stile::fuzz::arrival_sizes;

bool same(const ResponseHead& a, const ResponseHead& b) {
  if (a.fields.size() != b.fields.size()) return false;
  for (std::size_t i = 0; i < a.fields.size(); ++i) {
    if (a.fields[i].name != b.fields[i].name || a.fields[i].value != b.fields[i].value)
      return false;
  }
  return a.status == b.status && a.minor_version == b.minor_version && a.phrase == b.phrase &&
         a.framing == b.framing && a.content_length == b.content_length &&
         a.has_content_length == b.has_content_length && a.keep_alive == b.keep_alive;
}

std::string written(const ResponseHead& head) {
  std::string text = "HTTP/1." + std::to_string(head.minor_version) + ' ' +
                     std::to_string(head.status) + ' ' + std::string{head.phrase} + "\r\n";
  for (const Field& field : head.fields) {
    text += std::string{field.name} + ": " + std::string{field.value} + "\r\n";
  }
  return text + "\r\n";
}

// What goes to the client is one head, and the client reads the framing that was meant.
void check_forwarded(const ResponseHead& head, bool head_request, bool client_is_1_1) {
  if (head.fields.size() + 3 > max_fields)
    return;  // what is added may be too much for our own scanner
  const Framing framing = framing_for_client(head, client_is_1_1);
  std::string out;
  write_response_head(out, head, framing, client_is_1_1, true);
  HeadScanner scanner;
  ResponseHead forwarded;
  const auto result = scanner.scan_response(out, forwarded, head_request);
  STILE_FUZZ_CHECK(result.state == ParseState::complete && result.consumed == out.size());
  STILE_FUZZ_CHECK(forwarded.status == head.status && forwarded.phrase == head.phrase);
  STILE_FUZZ_CHECK(forwarded.framing == framing);
  STILE_FUZZ_CHECK(framing != Framing::length || forwarded.content_length == head.content_length);
  STILE_FUZZ_CHECK(framing != Framing::chunked || client_is_1_1);
  STILE_FUZZ_CHECK(forwarded.keep_alive == (framing != Framing::to_close));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const bool head_request = data[0] == 'H';
  const std::string_view text{reinterpret_cast<const char*>(data) + 1, size - 1};
  HeadScanner whole, trickled;
  ResponseHead head, other;
  const auto result = whole.scan_response(text, head, head_request);
  STILE_FUZZ_CHECK(result.consumed <= text.size());

  for (const std::size_t part : arrival_sizes(text)) {
    const auto partial = trickled.scan_response(text.substr(0, part), other, head_request);
    if (partial.state == ParseState::need_more) {
      STILE_FUZZ_CHECK(result.state != ParseState::complete || part < result.consumed);
      continue;
    }
    STILE_FUZZ_CHECK(partial.state == result.state && partial.error == result.error &&
                     partial.consumed == result.consumed);
    break;
  }

  if (result.state != ParseState::complete) return 0;
  STILE_FUZZ_CHECK(same(head, other));
  STILE_FUZZ_CHECK(head.status >= 100 && head.status <= 599);
  STILE_FUZZ_CHECK(!head_request || head.framing == Framing::none);
  STILE_FUZZ_CHECK(head.framing != Framing::to_close || !head.keep_alive);
  check_forwarded(head, head_request, true);
  check_forwarded(head, head_request, false);
  const std::string again = written(head);
  HeadScanner rescanned;
  const auto second = rescanned.scan_response(again, other, head_request);
  STILE_FUZZ_CHECK(second.state == ParseState::complete && same(head, other));
  return 0;
}
