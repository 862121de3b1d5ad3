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

// How many windows of a group have each half of a byte.
class Group {
 public:
  void add(std::string_view window, int times) noexcept {
    for (std::size_t at = 0; at < halves_.size(); ++at) halves_[at][half_of(window, at)] += times;
  }
  // How many three bytes pass.
  [[nodiscard]] long width() const noexcept {
    long product = 1;
    for (const auto& counts : halves_) {
      product *= std::count_if(counts.begin(), counts.end(), [](int n) { return n > 0; });
    }
    return product;
  }
  // How many more do with this one.
  [[nodiscard]] long growth(std::string_view window) const noexcept {
    Group wider = *this;
    wider.add(window, 1);
    return wider.width() - width();
  }

 private:
  // The three lower ones, and the upper one of the last byte.
  static std::size_t half_of(std::string_view window, std::size_t at) noexcept {
    const bool is_upper = at == Anchors::least_bytes;
    const auto byte = static_cast<unsigned char>(window[is_upper ? at - 1 : at]);
    return is_upper ? byte >> 4U : byte & 15U;
  }

  std::array<std::array<int, 16>, Anchors::least_bytes + 1> halves_{};
};

bool can_begin(const Anchors::Tables& tables, const char* at) noexcept {
  const auto groups_of_byte = [&](std::size_t i) {
    return tables.whole[i][static_cast<unsigned char>(at[i])];
  };
  return (groups_of_byte(0) & groups_of_byte(1) & groups_of_byte(2)) != 0;
}

#if defined(STILE_AVX2)
STILE_AVX2 __m256i load_table(const std::array<std::uint8_t, 16>& table) noexcept {
  return _mm256_broadcastsi128_si256(
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(table.data())));
}

// The groups that can have a window at each of 32 places. A shuffle looks up the lower half of a
// byte, and gives zero if the byte is not ASCII.
template <bool AreAscii>
class Windows {
 public:
  STILE_AVX2 explicit Windows(const Anchors::Tables& tables) noexcept
      : low_{load_table(tables.low[0]), load_table(tables.low[1]), load_table(tables.low[2])},
        high_{load_table(tables.high)} {}

  STILE_AVX2 __m256i operator()(const char* at) const noexcept {
    const __m256i last = load_32(at + 2);
    const __m256i upper = _mm256_and_si256(_mm256_srli_epi16(last, 4), _mm256_set1_epi8(15));
    return _mm256_and_si256(
        _mm256_and_si256(groups_of(low_[0], load_32(at)), groups_of(low_[1], load_32(at + 1))),
        _mm256_and_si256(groups_of(low_[2], last), _mm256_shuffle_epi8(high_, upper)));
  }

 private:
  STILE_AVX2 static __m256i groups_of(__m256i table, __m256i bytes) noexcept {
    if constexpr (!AreAscii) bytes = _mm256_and_si256(bytes, _mm256_set1_epi8(15));
    return _mm256_shuffle_epi8(table, bytes);
  }

  __m256i low_[Anchors::least_bytes];  // NOLINT(*-avoid-c-arrays)
  __m256i high_;
};

// Up to where fewer than 64 places are left, or `places` may not have room for 64 more. The halves
// of bytes match too often; the whole bytes decide.
template <bool AreAscii>
STILE_AVX2 std::size_t next_by_64(const Anchors::Tables& tables, std::string_view in,
                                  std::size_t from, Anchors::Places& places) noexcept {
  constexpr std::size_t step = 64;
  const Windows<AreAscii> windows{tables};
  for (; from + step + Anchors::least_bytes - 1 <= in.size(); from += step) {
    const char* at = in.data() + from;
    const __m256i low = windows(at), high = windows(at + 32);
    const __m256i any = _mm256_or_si256(low, high);
    if (_mm256_testz_si256(any, any) != 0) continue;
    if (places.count + step > places.at.size()) break;
    const __m256i zero = _mm256_setzero_si256();
    const std::uint64_t none = mask_of(_mm256_cmpeq_epi8(low, zero), _mm256_cmpeq_epi8(high, zero));
    for (std::uint64_t hits = ~none; hits != 0; hits &= hits - 1) {
      const auto place = static_cast<std::size_t>(std::countr_zero(hits));
      places.at[places.count] = from + place;
      places.count += can_begin(tables, at + place) ? 1U : 0U;
    }
  }
  return from;
}

std::size_t next_by_64(const Anchors::Tables& tables, std::string_view in, std::size_t from,
                       Anchors::Places& places) noexcept {
  return tables.are_ascii ? next_by_64<true>(tables, in, from, places)
                          : next_by_64<false>(tables, in, from, places);
}
#else
std::size_t next_by_64(const Anchors::Tables&, std::string_view, std::size_t from,
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
  const auto window_at = [&](std::size_t i) {
    return texts_[i].text.substr(texts_[i].window, least_bytes);
  };
  // Each goes to the group that lets through the fewest others with it, and then again when all
  // others have their groups.
  std::array<Group, groups> all{};
  std::vector<std::size_t> group_of(texts_.size());
  constexpr int rounds = 4;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      const std::string_view window = window_at(i);
      if (round > 0) all[group_of[i]].add(window, -1);
      const auto best = std::min_element(all.begin(), all.end(), [&](const auto& a, const auto& b) {
        return a.growth(window) < b.growth(window);
      });
      best->add(window, 1);
      group_of[i] = static_cast<std::size_t>(best - all.begin());
    }
  }
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    const auto bit = static_cast<std::uint8_t>(1U << group_of[i]);
    const std::string_view window = window_at(i);
    for (std::size_t at = 0; at < least_bytes; ++at) {
      const auto byte = static_cast<unsigned char>(window[at]);
      tables_.whole[at][byte] |= bit;
      tables_.low[at][byte & 15U] |= bit;
      tables_.are_ascii = tables_.are_ascii && byte < 0x80;
    }
    tables_.high[static_cast<unsigned char>(window.back()) >> 4U] |= bit;
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
  if (has_avx2()) from = next_by_64(tables_, in, from, places);
  if (places.count > places.at.size() / 2) return from;
  for (; from + least_bytes <= in.size() && places.count < places.at.size(); ++from) {
    places.at[places.count] = from;
    places.count += can_begin(tables_, in.data() + from) ? 1U : 0U;
  }
  return from;
}

}  // namespace stile::scan
