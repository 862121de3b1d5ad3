// Fuzzes parse_envelope: what is read has no other text, and the name is part of what is signed.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fleet/envelope.h"
#include "tests/fuzz/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stile::fleet;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto envelope = parse_envelope(text);
  if (!envelope) return 0;
  STILE_FUZZ_CHECK(envelope_text(*envelope) == text);
  STILE_FUZZ_CHECK(signed_bytes("policy/a", *envelope) != signed_bytes("policy/b", *envelope));
  return 0;
}
