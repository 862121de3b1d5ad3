// Vectors: work on 32 bytes at a time, if this processor can.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#define STILE_AVX2 __attribute__((target("avx2")))
#endif

namespace stile::scan {

[[nodiscard]] inline bool has_avx2() noexcept {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") != 0;
#else
  return false;
#endif
}

#if defined(STILE_AVX2)
STILE_AVX2 inline __m256i load_32(const char* at) noexcept {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}
STILE_AVX2 inline void store_32(char* at, __m256i bytes) noexcept {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), bytes);
}
// The first bit of each of 32 or 64 bytes.
STILE_AVX2 inline std::uint32_t mask_of(__m256i bytes) noexcept {
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(bytes));
}
STILE_AVX2 inline std::uint64_t mask_of(__m256i low, __m256i high) noexcept {
  return mask_of(low) | std::uint64_t{mask_of(high)} << 32U;
}
#endif

}  // namespace stile::scan
