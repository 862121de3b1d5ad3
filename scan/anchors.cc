// Anchors: finds many short texts in one pass.
//
// The texts are divided into eight groups, one bit each. A position can begin a text of a group
// only if its three bytes all have the group's bit in their tables. Of clean text nearly no
// position passes, and only those that do are compared.
#include "scan/anchors.h"

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace stile::scan {
namespace {

constexpr std::size_t groups = 8;

std::uint32_t key_of(std::string_view bytes) noexcept {
  const auto byte = [&](std::size_t i) {
    return std::uint32_t{static_cast<unsigned char>(bytes[i])};
  };
  return byte(0) << 16U | byte(1) << 8U | byte(2);
}

using Wholes = std::array<std::array<std::uint8_t, 256>, Anchors::least_bytes>;
using Halves = std::array<std::array<std::uint8_t, 16>, Anchors::least_bytes>;

bool can_begin(const Wholes& whole, const char* at) noexcept {
  const auto groups_of_byte = [&](std::size_t i) {
    return whole[i][static_cast<unsigned char>(at[i])];
  };
  return (groups_of_byte(0) & groups_of_byte(1) & groups_of_byte(2)) != 0;
}

#if defined(__x86_64__)
bool has_avx2() noexcept {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}

#define STILE_AVX2 __attribute__((target("avx2")))

STILE_AVX2 __m256i load(const std::array<std::uint8_t, 16>& table) noexcept {
  return _mm256_broadcastsi128_si256(
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(table.data())));
}

// The groups of 32 places, by one of their bytes.
STILE_AVX2 __m256i groups_of(__m256i low, __m256i high, const char* at) noexcept {
  const __m256i half = _mm256_set1_epi8(15);
  const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
  return _mm256_and_si256(
      _mm256_shuffle_epi8(low, _mm256_and_si256(bytes, half)),
      _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half)));
}

// The first place that can begin a text, or where fewer than 32 places are left. The halves of
// bytes match too often; the whole bytes decide.
STILE_AVX2 std::size_t skip_by_32(const Wholes& whole, const Halves& low, const Halves& high,
                                  std::string_view in, std::size_t from) noexcept {
  constexpr std::size_t step = 32;
  const __m256i low0 = load(low[0]), low1 = load(low[1]), low2 = load(low[2]);
  const __m256i high0 = load(high[0]), high1 = load(high[1]), high2 = load(high[2]);
  for (; from + step + Anchors::least_bytes - 1 <= in.size(); from += step) {
    const char* at = in.data() + from;
    const __m256i found = _mm256_and_si256(
        _mm256_and_si256(groups_of(low0, high0, at), groups_of(low1, high1, at + 1)),
        groups_of(low2, high2, at + 2));
    const __m256i none = _mm256_cmpeq_epi8(found, _mm256_setzero_si256());
    for (auto hits = ~static_cast<std::uint32_t>(_mm256_movemask_epi8(none)); hits != 0;
         hits &= hits - 1) {
      const auto place = static_cast<std::size_t>(__builtin_ctz(hits));
      if (can_begin(whole, at + place)) return from + place;
    }
  }
  return from;
}
#undef STILE_AVX2
#else
bool has_avx2() noexcept { return false; }
std::size_t skip_by_32(const Wholes&, const Halves&, const Halves&, std::string_view,
                       std::size_t from) noexcept {
  return from;
}
#endif

}  // namespace

Anchors::Anchors(std::span<const std::string_view> texts) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    texts_.push_back({key_of(texts[i]), texts[i], i});
  }
  // Texts that begin alike share a group, so that its tables stay narrow.
  std::stable_sort(texts_.begin(), texts_.end(),
                   [](const Text& a, const Text& b) { return a.key < b.key; });
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    const auto bit = static_cast<std::uint8_t>(1U << (i * groups / texts_.size()));
    for (std::size_t at = 0; at < least_bytes; ++at) {
      const auto byte = static_cast<unsigned char>(texts_[i].text[at]);
      tables_.whole[at][byte] |= bit;
      tables_.low[at][byte & 15U] |= bit;
      tables_.high[at][byte >> 4U] |= bit;
    }
  }
}

std::pair<std::size_t, std::size_t> Anchors::beginning_with(std::string_view bytes) const noexcept {
  const std::uint32_t key = key_of(bytes);
  const auto first =
      std::lower_bound(texts_.begin(), texts_.end(), key,
                       [](const Text& text, std::uint32_t k) { return text.key < k; });
  auto last = first;
  while (last != texts_.end() && last->key == key) ++last;
  return {static_cast<std::size_t>(first - texts_.begin()),
          static_cast<std::size_t>(last - texts_.begin())};
}

// Returns the size of the text if there is none.
std::size_t Anchors::next(std::string_view in, std::size_t from) const noexcept {
  if (texts_.empty()) return in.size();
  if (has_avx2()) from = skip_by_32(tables_.whole, tables_.low, tables_.high, in, from);
  for (std::size_t i = from; i + least_bytes <= in.size(); ++i) {
    if (can_begin(tables_.whole, in.data() + i)) return i;
  }
  return in.size();
}

}  // namespace stile::scan
