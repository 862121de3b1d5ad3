// Stretches: finds long stretches of characters of an alphabet.
#include "scan/stretch.h"

#include <bit>

namespace stile::scan {
namespace {

constexpr std::size_t stretch_block = 32;

#if defined(STILE_AVX2)
// Which of 32 characters are not in the set, one bit each.
STILE_AVX2 std::uint32_t others_in(__m256i rows, const char* at) noexcept {
  const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
  return static_cast<std::uint32_t>(
      _mm256_movemask_epi8(_mm256_cmpeq_epi8(in_rows(rows, bytes), _mm256_setzero_si256())));
}

// Looks at whole blocks from `at` on. `first` is where the stretch before `at` begins. False: none
// is long enough so far.
STILE_AVX2 bool find_by_32(std::string_view text, const CharSet& set, std::size_t least,
                           std::size_t& at, Stretch& stretch) noexcept {
  const __m256i rows = rows_of(set);
  // All stretches of that length that lie within a block have the characters in its middle.
  const std::uint32_t middle =
      least > stretch_block ? 0
                            : (~0U >> (stretch_block - least)) & (~0U << (stretch_block - least));
  std::size_t first = stretch.first;
  for (; at + stretch_block <= text.size(); at += stretch_block) {
    const std::uint32_t others = others_in(rows, text.data() + at);
    if (others == 0) continue;
    const std::size_t end = at + static_cast<std::size_t>(std::countr_zero(others));
    if (end - first >= least) {
      stretch = {first, end};
      return true;
    }
    if (middle != 0 && (others & middle) == 0) {
      const std::size_t begins = at + static_cast<std::size_t>(std::bit_width(others & 0xffffU));
      const std::size_t ends = at + static_cast<std::size_t>(std::countr_zero(others >> 16U)) + 16;
      if (others >> 16U != 0 && ends - begins >= least) {
        stretch = {begins, ends};
        return true;
      }
    }
    first = at + static_cast<std::size_t>(std::bit_width(others));  // after the last one
  }
  stretch.first = first;
  return false;
}

STILE_AVX2 std::size_t stretch_before_by_32(std::string_view text, std::size_t end,
                                            const CharSet& set) noexcept {
  const __m256i rows = rows_of(set);
  for (; end >= stretch_block; end -= stretch_block) {
    const std::uint32_t others = others_in(rows, text.data() + end - stretch_block);
    if (others != 0) return end - static_cast<std::size_t>(std::countl_zero(others));
  }
  return end;
}
#else
std::size_t stretch_before_by_32(std::string_view, std::size_t end, const CharSet&) noexcept {
  return end;
}
bool find_by_32(std::string_view, const CharSet&, std::size_t, std::size_t&, Stretch&) noexcept {
  return false;
}
#endif

}  // namespace

Stretch next_stretch(std::string_view text, std::size_t from, const CharSet& set,
                     std::size_t least) noexcept {
  Stretch stretch{from, from};
  std::size_t at = from;
  if (has_avx2() && find_by_32(text, set, least, at, stretch)) return stretch;
  std::size_t first = stretch.first;
  for (; at < text.size(); ++at) {
    if (set.has(text[at])) continue;
    if (at - first >= least) return {first, at};
    first = at + 1;
  }
  return at - first >= least ? Stretch{first, at} : Stretch{at, at};
}

std::size_t stretch_before(std::string_view text, std::size_t end, const CharSet& set) noexcept {
  if (has_avx2()) end = stretch_before_by_32(text, end, set);
  while (end > 0 && set.has(text[end - 1])) --end;
  return end;
}

}  // namespace stile::scan
