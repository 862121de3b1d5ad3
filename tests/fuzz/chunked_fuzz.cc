// Fuzzes the chunked decoder: pieces do not matter, and a body framed anew is the same body.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "proxy/http/chunked.h"
#include "tests/fuzz/arrival.h"
#include "tests/fuzz/check.h"

namespace {

using stile::http::ChunkedDecoder;
using Kind = ChunkedDecoder::Step::Kind;

struct Decoded {
  Kind kind = Kind::need_more;
  std::string body;
  std::size_t consumed = 0;

  friend bool operator==(const Decoded&, const Decoded&) = default;
};

Decoded decode(std::string_view input, std::size_t piece) {
  ChunkedDecoder decoder{200};
  Decoded decoded;
  for (std::size_t at = 0; at < input.size(); at += piece) {
    std::string_view rest = input.substr(at, piece);
    do {
      const auto step = decoder.next(rest);
      STILE_FUZZ_CHECK(step.consumed <= rest.size());
      STILE_FUZZ_CHECK((step.kind == Kind::data) == !step.data.empty());
      STILE_FUZZ_CHECK(step.kind != Kind::need_more || step.consumed == rest.size());
      rest.remove_prefix(step.consumed);
      decoded.consumed += step.consumed;
      decoded.body += step.data;
      decoded.kind = step.kind == Kind::data ? Kind::need_more : step.kind;
      if (decoded.kind != Kind::need_more) return decoded;
    } while (!rest.empty());
  }
  return decoded;
}

std::string encoded(std::string_view body) {
  std::string text;
  for (std::size_t at = 0; at < body.size(); at += 7) {
    const std::string_view chunk = body.substr(at, 7);
    text += static_cast<char>('0' + chunk.size());
    text += ";x\r\n";
    text += chunk;
    text += "\r\n";
  }
  return text + "0\r\nX: y\r\n\r\n";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input{reinterpret_cast<const char*>(data), size};
  const Decoded whole = decode(input, std::max<std::size_t>(size, 1));
  STILE_FUZZ_CHECK(decode(input, 1 + stile::fuzz::number_of(input) % 7) == whole);
  // Every byte of the body was one of the input's, and framing costs at least five.
  STILE_FUZZ_CHECK(whole.kind != Kind::end || whole.body.size() + 5 <= whole.consumed);
  const Decoded again = decode(encoded(whole.body), 3);
  STILE_FUZZ_CHECK(again.kind == Kind::end && again.body == whole.body);
  return 0;
}
