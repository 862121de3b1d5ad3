// SeededHash: for tables whose keys agents choose. SipHash-1-3 with a random key per process, so
// that agents cannot find names that fall into one bucket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stile {

struct SipKey {
  std::uint64_t first = 0, second = 0;
};
// Aumasson and Bernstein, "SipHash: a fast short-input PRF", with one round per block and three at
// the end.
[[nodiscard]] std::uint64_t sip_hash(const SipKey& key, std::string_view bytes) noexcept;

struct SeededHash {
  // The name that the library looks for. NOLINTNEXTLINE(readability-identifier-naming)
  using is_transparent = void;
  [[nodiscard]] std::size_t operator()(std::string_view bytes) const noexcept;
};

}  // namespace stile
