// Fuzzes the reader of token counts: pieces do not matter, more bytes never lower a count.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proxy/http/usage.h"
#include "tests/fuzz/arrival.h"
#include "tests/fuzz/check.h"

using stile::http::UsageReader;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input{reinterpret_cast<const char*>(data), size};
  for (const auto form : {UsageReader::Form::json, UsageReader::Form::events}) {
    UsageReader whole{form}, pieces{form};
    whole.feed(input);
    const std::size_t piece = 1 + stile::fuzz::number_of(input) % 7;
    std::uint64_t before = 0;
    for (std::size_t at = 0; at < size; at += piece) {
      pieces.feed(input.substr(at, piece));
      STILE_FUZZ_CHECK(pieces.tokens() >= before);
      before = pieces.tokens();
    }
    STILE_FUZZ_CHECK(whole.tokens() == pieces.tokens());
    STILE_FUZZ_CHECK(whole.has_report() == pieces.has_report());
    STILE_FUZZ_CHECK(whole.is_unfinished() == pieces.is_unfinished());
    STILE_FUZZ_CHECK(whole.has_report() || whole.tokens() == 0);
  }
  return 0;
}
