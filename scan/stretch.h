// Stretches: finds long stretches of characters of an alphabet. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "scan/alphabet.h"
#include "scan/vectors.h"

namespace stile::scan {

struct Stretch {
  std::size_t first, end;
};

// A set of ASCII characters, as the processor looks up 32 at a time: for each lower half of a
// character, a bit for each upper half.
class CharSet {
 public:
  explicit constexpr CharSet(std::uint16_t alphabet) {
    for (int c = 0; c < 128; ++c) {
      if (is_in(alphabet, static_cast<char>(c))) add(static_cast<char>(c));
    }
  }
  explicit constexpr CharSet(std::string_view characters) {
    for (const char c : characters) add(c);
  }
  [[nodiscard]] constexpr bool has(char c) const noexcept {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 128 && (rows_[byte & 15U] >> (byte >> 4U) & 1U) != 0;
  }
  [[nodiscard]] constexpr const std::array<std::uint8_t, 16>& rows() const noexcept {
    return rows_;
  }

 private:
  constexpr void add(char c) {
    const auto byte = static_cast<unsigned char>(c);
    rows_[byte & 15U] = static_cast<std::uint8_t>(rows_[byte & 15U] | 1U << (byte >> 4U));
  }

  std::array<std::uint8_t, 16> rows_{};
};

#if defined(STILE_AVX2)
STILE_AVX2 inline __m256i rows_of(const CharSet& set) noexcept {
  return _mm256_broadcastsi128_si256(
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(set.rows().data())));
}
// Not zero for those of 32 characters that are in the set.
STILE_AVX2 inline __m256i in_rows(__m256i rows, __m256i bytes) noexcept {
  // For each upper half its bit. Of a character that is not ASCII, the other look-up is zero.
  const __m256i bits = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0));
  const __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(15));
  return _mm256_and_si256(_mm256_shuffle_epi8(rows, bytes), _mm256_shuffle_epi8(bits, high));
}
#endif

inline constexpr std::size_t least_stretch = 17;

// The next stretch from `from` on that has at least `least` characters; empty, at the end of the
// text, if there is none. `least` is not smaller than least_stretch.
[[nodiscard]] Stretch next_stretch(std::string_view text, std::size_t from, const CharSet& set,
                                   std::size_t least) noexcept;

// Where the stretch begins that ends at `end`.
[[nodiscard]] std::size_t stretch_before(std::string_view text, std::size_t end,
                                         const CharSet& set) noexcept;

}  // namespace stile::scan
