// Vectors: whether this processor can work on 32 bytes at a time.
#pragma once

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

}  // namespace stile::scan
