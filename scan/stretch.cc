// Stretches: finds long stretches of characters of an alphabet.
#include "scan/stretch.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace stile::scan {
namespace {

constexpr std::size_t stretch_block = 32;

// The first stretch between two of the other characters of a block.
bool find_within(std::uint64_t others, std::size_t least, Stretch& stretch) noexcept {
  std::size_t first = 64;
  for (; others != 0; others &= others - 1) {
    const auto end = static_cast<std::size_t>(std::countr_zero(others));
    if (end >= first + least) {
      stretch = {first, end};
      return true;
    }
    first = end + 1;
  }
  return false;
}

#if defined(STILE_AVX2)
// Which of 32 characters are not in the set, one bit each.
STILE_AVX2 std::uint32_t others_in(__m256i rows, const char* at) noexcept {
  return mask_of(_mm256_cmpeq_epi8(in_rows(rows, load_32(at)), _mm256_setzero_si256()));
}

STILE_AVX2 Stretch next_by_64(std::string_view text, std::size_t from, const CharSet& set,
                              std::size_t least) noexcept {
  const __m256i rows = rows_of(set);
  std::size_t first = from;
  std::array<char, 64> last;  // what is left of the text, and other characters
  for (std::size_t at = from; at < text.size(); at += 64) {
    const char* block = text.data() + at;
    if (text.size() - at < 64) {
      last.fill('\xff');
      std::memcpy(last.data(), block, text.size() - at);
      block = last.data();
    }
    const std::uint64_t others = others_in(rows, block) | std::uint64_t{others_in(rows, block + 32)}
                                                              << 32U;
    if (others == 0) continue;
    const std::size_t end = at + static_cast<std::size_t>(std::countr_zero(others));
    if (end - first >= least) return {first, end};
    // One that is within the block has at least 16 characters.
    std::uint64_t run = ~others;
    run &= run >> 1U;
    run &= run >> 2U;
    run &= run >> 4U;
    run &= run >> 8U;
    Stretch within{};
    if (run != 0 && find_within(others, least, within)) return {at + within.first, at + within.end};
    first = at + static_cast<std::size_t>(std::bit_width(others));  // after the last other one
  }
  first = std::min(first, text.size());
  return text.size() - first >= least ? Stretch{first, text.size()}
                                      : Stretch{text.size(), text.size()};
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
#endif

}  // namespace

Stretch next_stretch(std::string_view text, std::size_t from, const CharSet& set,
                     std::size_t least) noexcept {
#if defined(STILE_AVX2)
  if (has_avx2()) return next_by_64(text, from, set, least);
#endif
  std::size_t first = from, at = from;
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
