// Fuzzes absolute-form targets: their parts put together again are the target.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/http/head.h"
#include "tests/fuzz/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto target = stile::http::parse_absolute_target(text);
  if (!target) return 0;
  STILE_FUZZ_CHECK(!target->authority.empty());
  STILE_FUZZ_CHECK(target->authority.find_first_of("/?#@\\ \t\r\n") == std::string_view::npos);
  STILE_FUZZ_CHECK(target->path.front() == '/');
  STILE_FUZZ_CHECK(target->path.find_first_of("?#\\ ") == std::string_view::npos);
  for (const char c : text) STILE_FUZZ_CHECK(c > 0x20 && c < 0x7f);
  std::string again = std::string{text.substr(0, 7)} + std::string{target->authority};
  if (target->has_path_or_query) again += target->path_and_query;
  STILE_FUZZ_CHECK(again == text);
  return 0;
}
