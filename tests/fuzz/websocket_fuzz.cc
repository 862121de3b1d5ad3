// Fuzzes the reader of WebSocket frames: pieces do not matter, and it makes no bytes of its own.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/http/websocket.h"
#include "tests/fuzz/arrival.h"
#include "tests/fuzz/check.h"

namespace {

struct Read {
  bool is_good = true;
  std::string data, control;
};

Read read(std::string_view input, std::size_t piece) {
  stile::http::FrameReader reader;
  Read result;
  for (std::size_t at = 0; at < input.size() && result.is_good; at += piece) {
    result.is_good = reader.feed(input.substr(at, piece), result.data, result.control);
  }
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input{reinterpret_cast<const char*>(data), size};
  const Read whole = read(input, std::max<std::size_t>(size, 1));
  const Read pieces = read(input, 1 + stile::fuzz::number_of(input) % 7);
  STILE_FUZZ_CHECK(whole.is_good == pieces.is_good && whole.data == pieces.data &&
                   whole.control == pieces.control);
  STILE_FUZZ_CHECK(whole.data.size() + whole.control.size() <= size);
  return 0;
}
