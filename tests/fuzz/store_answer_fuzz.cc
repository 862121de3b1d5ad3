// Fuzzes the answers of the store: every one is read or refused, and no key below the prefix is
// longer than the answer.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fleet/gateway.h"
#include "tests/fuzz/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stile::fleet;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  if (const auto range = parse_range(text)) {
    for (const auto& pair : range->pairs) {
      STILE_FUZZ_CHECK(pair.key.size() + pair.value.size() <= size);
    }
  }
  if (const auto watched = parse_watched(text)) {
    for (const auto& pair : watched->pairs) STILE_FUZZ_CHECK(pair.key.size() <= size);
  }
  static_cast<void>(parse_transaction(text));
  static_cast<void>(parse_lease(text));
  static_cast<void>(parse_kept_lease(text));
  static_cast<void>(parse_token(text));
  return 0;
}
