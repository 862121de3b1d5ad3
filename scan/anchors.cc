// Anchors: finds many short texts in one pass.
//
// Of each text, three bytes are looked for: its window. The texts are divided into eight groups,
// one bit each. A place can have a window of a group only if its three bytes all have the group's
// bit in their tables. Of clean text nearly no place passes, and only those that do are compared.
#include "scan/anchors.h"

#include <algorithm>
#include <bit>

#include "base/ascii.h"
#include "scan/vectors.h"

namespace stile::scan {
namespace {

constexpr std::size_t groups = 8;

std::uint32_t key_of(std::string_view bytes) noexcept {
  const auto byte = [&](std::size_t i) {
    return std::uint32_t{static_cast<unsigned char>(bytes[i])};
  };
  return byte(0) << 16U | byte(1) << 8U | byte(2);
}

// How often text has a character, roughly.
unsigned frequency(char c) noexcept {
  if ((c >= 'a' && c <= 'z') || c == ' ') return 4;
  return is_digit(c) || (c >= 'A' && c <= 'Z') ? 2 : 1;
}

// The three bytes of the text that are the rarest: "r8_" and "_v1" rather than "sk-" and "dop".
std::size_t window_of(std::string_view text) noexcept {
  std::size_t best = 0;
  unsigned least = ~0U;
  for (std::size_t at = 0; at + Anchors::least_bytes <= text.size(); ++at) {
    const unsigned product =
        frequency(text[at]) * frequency(text[at + 1]) * frequency(text[at + 2]);
    if (product < least) {
      least = product;
      best = at;
    }
  }
  return best;
}

// Which halves of bytes the windows of a group have.
struct Group {
  std::array<std::uint16_t, Anchors::least_bytes> low{}, high{};

  void add(std::string_view window) noexcept {
    for (std::size_t at = 0; at < Anchors::least_bytes; ++at) {
      const auto byte = static_cast<unsigned char>(window[at]);
      low[at] = static_cast<std::uint16_t>(low[at] | 1U << (byte & 15U));
      high[at] = static_cast<std::uint16_t>(high[at] | 1U << (byte >> 4U));
    }
  }
  // How many three bytes pass.
  [[nodiscard]] int width() const noexcept {
    int product = 1;
    for (std::size_t at = 0; at < Anchors::least_bytes; ++at) {
      product *= std::popcount(low[at]) * std::popcount(high[at]);
    }
    return product;
  }
};

bool can_begin(const Anchors::Tables& tables, const char* at) noexcept {
  const auto groups_of_byte = [&](std::size_t i) {
    return tables.whole[i][static_cast<unsigned char>(at[i])];
  };
  return (groups_of_byte(0) & groups_of_byte(1) & groups_of_byte(2)) != 0;
}

#if defined(STILE_AVX2)
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

// Up to where fewer than 32 places are left, or `places` may not have room for 32 more. The halves
// of bytes match too often; the whole bytes decide.
STILE_AVX2 std::size_t next_by_32(const Anchors::Tables& tables, std::string_view in,
                                  std::size_t from, Anchors::Places& places) noexcept {
  constexpr std::size_t step = 32;
  const __m256i low0 = load(tables.low[0]), high0 = load(tables.high[0]);
  const __m256i low1 = load(tables.low[1]), high1 = load(tables.high[1]);
  const __m256i low2 = load(tables.low[2]), high2 = load(tables.high[2]);
  for (; from + step + Anchors::least_bytes - 1 <= in.size(); from += step) {
    if (places.count + step > places.at.size()) break;
    const char* at = in.data() + from;
    const __m256i found = _mm256_and_si256(
        _mm256_and_si256(groups_of(low0, high0, at), groups_of(low1, high1, at + 1)),
        groups_of(low2, high2, at + 2));
    if (_mm256_testz_si256(found, found) != 0) continue;
    const __m256i none = _mm256_cmpeq_epi8(found, _mm256_setzero_si256());
    for (auto hits = ~static_cast<std::uint32_t>(_mm256_movemask_epi8(none)); hits != 0;
         hits &= hits - 1) {
      const auto place = static_cast<std::size_t>(std::countr_zero(hits));
      places.at[places.count] = from + place;
      places.count += can_begin(tables, at + place) ? 1U : 0U;
    }
  }
  return from;
}
#else
std::size_t next_by_32(const Anchors::Tables&, std::string_view, std::size_t from,
                       Anchors::Places&) noexcept {
  return from;
}
#endif

}  // namespace

Anchors::Anchors(std::span<const std::string_view> texts) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::size_t window = window_of(texts[i]);
    texts_.push_back({key_of(texts[i].substr(window)), texts[i], i, window});
    furthest_ = std::max(furthest_, window);
  }
  std::stable_sort(texts_.begin(), texts_.end(),
                   [](const Text& a, const Text& b) { return a.key < b.key; });
  std::array<Group, groups> all{};
  for (const Text& text : texts_) {
    const std::string_view window = text.text.substr(text.window, least_bytes);
    // The group that lets through the fewest others with it.
    std::size_t best = 0;
    int least = -1;
    for (std::size_t i = 0; i < groups; ++i) {
      Group wider = all[i];
      wider.add(window);
      const int growth = wider.width() - all[i].width();
      if (least < 0 || growth < least) {
        least = growth;
        best = i;
      }
    }
    all[best].add(window);
    const auto bit = static_cast<std::uint8_t>(1U << best);
    for (std::size_t at = 0; at < least_bytes; ++at) {
      const auto byte = static_cast<unsigned char>(window[at]);
      tables_.whole[at][byte] |= bit;
      tables_.low[at][byte & 15U] |= bit;
      tables_.high[at][byte >> 4U] |= bit;
    }
  }
}

std::pair<std::size_t, std::size_t> Anchors::with_window(std::string_view bytes) const noexcept {
  const std::uint32_t key = key_of(bytes);
  const auto first =
      std::lower_bound(texts_.begin(), texts_.end(), key,
                       [](const Text& text, std::uint32_t k) { return text.key < k; });
  auto last = first;
  while (last != texts_.end() && last->key == key) ++last;
  return {static_cast<std::size_t>(first - texts_.begin()),
          static_cast<std::size_t>(last - texts_.begin())};
}

std::size_t Anchors::next(std::string_view in, std::size_t from, Places& places) const noexcept {
  places.count = 0;
  if (has_avx2()) from = next_by_32(tables_, in, from, places);
  if (places.count > places.at.size() / 2) return from;
  for (; from + least_bytes <= in.size() && places.count < places.at.size(); ++from) {
    places.at[places.count] = from;
    places.count += can_begin(tables_, in.data() + from) ? 1U : 0U;
  }
  return from;
}

}  // namespace stile::scan
