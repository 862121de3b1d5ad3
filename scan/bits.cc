// Bits: what long runs of base64 and of hexadecimal digits stand for, and whether that says
// anything.
#include "scan/bits.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/ascii.h"
#include "scan/vectors.h"

namespace stile::scan {
namespace {

constexpr std::array<std::int8_t, 256> base64_values = [] {
  std::array<std::int8_t, 256> table{};
  for (auto& value : table) value = -1;
  std::int8_t next = 0;
  for (unsigned c = 'A'; c <= 'Z'; ++c) table[c] = next++;
  for (unsigned c = 'a'; c <= 'z'; ++c) table[c] = next++;
  for (unsigned c = '0'; c <= '9'; ++c) table[c] = next++;
  table['+'] = table['-'] = 62;
  table['/'] = table['_'] = 63;
  return table;
}();

constexpr std::array<std::uint8_t, 256> hex_values = [] {
  std::array<std::uint8_t, 256> table{};
  for (unsigned c = 0; c < 128; ++c) {
    const int value = hex_value(static_cast<char>(c));
    table[c] = static_cast<std::uint8_t>(value < 0 ? 0 : value);
  }
  return table;
}();

constexpr char never_text = '\xff';  // at any shift

std::uint32_t base64_value(char c) noexcept {
  return static_cast<std::uint32_t>(base64_values[static_cast<unsigned char>(c)]);
}
unsigned hex_digit_value(char c) noexcept { return hex_values[static_cast<unsigned char>(c)]; }

#if defined(STILE_AVX2)
STILE_AVX2 __m256i both(__m128i half) noexcept { return _mm256_broadcastsi128_si256(half); }

STILE_AVX2 __m256i if_it_is(__m256i bytes, char c, char more) noexcept {
  return _mm256_and_si256(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(c)), _mm256_set1_epi8(more));
}

// The six bits of each of 32 characters.
STILE_AVX2 __m256i base64_values_of(__m256i chars) noexcept {
  // From a character to its value, by its upper half: digits, capitals, small letters. Marks have
  // upper halves of their own or share one: `/` (2), `_` (5); `+` and `-` differ from `/` by 3
  // and 1.
  const __m256i to_value = both(_mm_setr_epi8(0, 0, 63 - '/', 52 - '0', -'A', -'A', 26 - 'a',
                                              26 - 'a', 0, 0, 0, 0, 0, 0, 0, 0));
  const __m256i half = _mm256_and_si256(_mm256_srli_epi16(chars, 4), _mm256_set1_epi8(15));
  const __m256i plus = if_it_is(chars, '+', 62 - '+' - (63 - '/'));
  const __m256i minus = if_it_is(chars, '-', 62 - '-' - (63 - '/'));
  const __m256i underscore = if_it_is(chars, '_', 63 - '_' + 'A');
  const __m256i shift = _mm256_shuffle_epi8(to_value, half);
  return _mm256_add_epi8(_mm256_add_epi8(_mm256_add_epi8(chars, shift), plus),
                         _mm256_add_epi8(minus, underscore));
}

STILE_AVX2 std::size_t base64_by_32(std::string_view run, char* to) noexcept {
  std::size_t done = 0;
  for (; done + 32 <= run.size(); done += 32, to += 24) {
    const __m256i values = base64_values_of(load_32(run.data() + done));
    // Pairs of six bits to twelve, pairs of twelve to 24, of which the three bytes are then moved
    // together.
    const __m256i twelve = _mm256_maddubs_epi16(values, _mm256_set1_epi32(0x01400140));
    const __m256i whole = _mm256_madd_epi16(twelve, _mm256_set1_epi32(0x00011000));
    const __m256i packed = _mm256_shuffle_epi8(
        whole, both(_mm_setr_epi8(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1)));
    store_32(to, _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7)));
  }
  return done;
}

// 32 bytes that begin `shift` bits after the first bit.
STILE_AVX2 __m256i shifted(const char* from, unsigned shift) noexcept {
  const auto rest = static_cast<int>(8 - shift);
  const __m256i first = _mm256_sll_epi16(load_32(from), _mm_cvtsi32_si128(static_cast<int>(shift)));
  const __m256i last = _mm256_srl_epi16(load_32(from + 1), _mm_cvtsi32_si128(rest));
  return _mm256_or_si256(
      _mm256_and_si256(first, _mm256_set1_epi8(static_cast<char>(0xffU << shift))),
      _mm256_and_si256(last, _mm256_set1_epi8(static_cast<char>(0xffU >> rest))));
}

STILE_AVX2 std::size_t shifted_by_32(unsigned shift, const char* from, std::size_t count,
                                     char* to) noexcept {
  std::size_t done = 0;
  for (; done < count; done += 32) store_32(to + done, shifted(from + done, shift));
  return done;
}

STILE_AVX2 std::size_t hex_by_32(std::string_view run, char* to) noexcept {
  std::size_t done = 0;
  for (; done + 32 <= run.size(); done += 32, to += 16) {
    const __m256i chars = load_32(run.data() + done);
    // Letters have their sixth bit from the right: 9 more than the lower half.
    const __m256i is_letter = _mm256_and_si256(_mm256_srli_epi16(chars, 6), _mm256_set1_epi8(1));
    const __m256i nine = _mm256_add_epi8(_mm256_slli_epi16(is_letter, 3), is_letter);
    const __m256i values = _mm256_add_epi8(_mm256_and_si256(chars, _mm256_set1_epi8(15)), nine);
    const __m256i bytes = _mm256_maddubs_epi16(values, _mm256_set1_epi16(0x0110));
    const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi16(bytes, bytes), 0xd8);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(packed));
  }
  return done;
}

STILE_AVX2 std::uint64_t text_in(__m256i bytes) noexcept {
  const __m256i blanks =
      both(_mm_setr_epi8(-1, -1, -1, -1, -1, -1, -1, -1, -1, 9, 10, -1, -1, 13, -1, -1));
  const __m256i is_blank = _mm256_cmpeq_epi8(_mm256_shuffle_epi8(blanks, bytes), bytes);
  const __m256i is_printed = _mm256_cmpgt_epi8(bytes, _mm256_set1_epi8(0x1f));
  return mask_of(_mm256_or_si256(is_blank, is_printed));
}

// Not zero for those of 32 bytes at which gzip data begins.
STILE_AVX2 __m256i gzip_starts(const char* at) noexcept {
  __m256i found = _mm256_cmpeq_epi8(load_32(at), _mm256_set1_epi8(gzip_start[0]));
  for (std::size_t i = 1; i < gzip_start.size(); ++i) {
    const __m256i byte = _mm256_set1_epi8(gzip_start[i]);
    found = _mm256_and_si256(found, _mm256_cmpeq_epi8(load_32(at + i), byte));
  }
  return found;
}

// A place at or before the first one at which gzip data begins. std::string_view::find() would stop
// at each first byte, of which binary data has many. No gzip data begins in ASCII.
STILE_AVX2 std::size_t near_gzip_start(std::string_view bytes, std::size_t at) noexcept {
  for (; at + 64 + gzip_start.size() <= bytes.size(); at += 64) {
    const char* from = bytes.data() + at;
    if (mask_of(_mm256_or_si256(load_32(from + 1), load_32(from + 33))) == 0) continue;
    const __m256i found = _mm256_or_si256(gzip_starts(from), gzip_starts(from + 32));
    if (_mm256_testz_si256(found, found) == 0) break;
  }
  return at;
}

// The last two bytes that gzip_start reaches, if it begins `shift` bits into the byte before.
constexpr std::array<char, 2> end_of_gzip_start(unsigned shift) {
  const std::uint32_t bits = 0x1f8b08U << (8 - shift);
  return {static_cast<char>(bits >> 16U), static_cast<char>(bits >> 8U)};
}

// Whether a stretch of text or gzip data may begin, at one of the shifts, at one of 32 bytes. Fast,
// and wrong for one or two of 100 blocks of random bytes. Reads 32 + 2 * Pairs bytes.
//
// No character of text has its first bit. Of a stretch at an odd place, the first character may be
// outside of the pairs of bytes that are looked at.
template <int Pairs>
STILE_AVX2 bool may_tell(const char* at, Shifts shifts) noexcept {
  __m256i bits = load_32(at);
  for (int i = 1; i < Pairs; ++i) bits = _mm256_or_si256(bits, load_32(at + 2 * i));
  bits = _mm256_or_si256(bits, _mm256_srli_epi16(bits, 8));
  const __m256i first_bits = _mm256_set1_epi16(shifts);
  const __m256i no_text = _mm256_cmpeq_epi16(_mm256_and_si256(bits, first_bits), first_bits);
  const __m256i next = load_32(at + 1), after_next = load_32(at + 2);
  __m256i gzip = _mm256_setzero_si256();
  for (unsigned shift = 0; shift < 8; shift += 2) {
    const auto [first, second] = end_of_gzip_start(shift);
    gzip = _mm256_or_si256(
        gzip, _mm256_and_si256(_mm256_cmpeq_epi8(next, _mm256_set1_epi8(first)),
                               _mm256_cmpeq_epi8(after_next, _mm256_set1_epi8(second))));
  }
  return mask_of(_mm256_andnot_si256(gzip, no_text)) != ~0U;
}

// Whether one is within the 64 bytes that begin at a shift.
STILE_AVX2 bool tells(const char* at, unsigned shift, std::size_t least_text) noexcept {
  std::array<char, 64> bytes;
  store_32(bytes.data(), shifted(at, shift));
  store_32(bytes.data() + 32, shifted(at + 32, shift));
  std::uint64_t run = text_in(load_32(bytes.data())) | text_in(load_32(bytes.data() + 32)) << 32U;
  run &= run >> 1U;
  run &= run >> 2U;
  run &= run >> 4U;
  run &= run >> (least_text - shortest_text);
  return run != 0 ||
         std::string_view{bytes.data(), bytes.size()}.find(gzip_start) != std::string_view::npos;
}

template <int Pairs>
STILE_AVX2 Shifts telling_by_32(std::string_view bits, Shifts shifts,
                                std::size_t least_text) noexcept {
  Shifts telling = 0;
  for (std::size_t at = 0; at < bits.size() && telling != shifts; at += 32) {
    if (!may_tell<Pairs>(bits.data() + at, shifts & ~telling)) continue;
    const char* from = bits.data() + (at == 0 ? 0 : at - 1);
    for (unsigned shift = 0; shift < 8; shift += 2) {
      if ((shifts & ~telling & shift_of(shift)) != 0 && tells(from, shift, least_text)) {
        telling |= shift_of(shift);
      }
    }
  }
  return telling;
}
#endif

unsigned byte_at(const char* from, std::size_t at) noexcept {
  return static_cast<unsigned char>(from[at]);
}

}  // namespace

std::string_view bits_of_base64(std::string_view run, Bytes& room) {
  const std::size_t size = (6 * run.size() + 7) / 8;
  char* to = room.make_room(size + slack);
  const std::string_view bits{to, size};
#if defined(STILE_AVX2)
  if (has_avx2()) {
    const std::size_t done = base64_by_32(run, to);
    run.remove_prefix(done);
    to += done / 4 * 3;
  }
#endif
  while (run.size() >= 4) {
    const std::uint32_t value = base64_value(run[0]) << 18U | base64_value(run[1]) << 12U |
                                base64_value(run[2]) << 6U | base64_value(run[3]);
    *to++ = static_cast<char>(value >> 16U);
    *to++ = static_cast<char>(value >> 8U);
    *to++ = static_cast<char>(value);
    run.remove_prefix(4);
  }
  std::uint32_t value = 0xffffffU >> (6 * run.size());
  for (std::size_t i = 0; i < run.size(); ++i) value |= base64_value(run[i]) << (18 - 6 * i);
  for (std::size_t i = 0; i < run.size(); ++i) *to++ = static_cast<char>(value >> (16 - 8 * i));
  std::fill_n(to, slack, never_text);
  return bits;
}

std::string_view bits_of_hex(std::string_view run, Bytes& room) {
  const std::size_t size = (run.size() + 1) / 2;
  char* to = room.make_room(size + slack);
  std::size_t i = 0;
#if defined(STILE_AVX2)
  if (has_avx2()) i = hex_by_32(run, to) / 2;
#endif
  for (; i < run.size() / 2; ++i) {
    to[i] = static_cast<char>(hex_digit_value(run[2 * i]) << 4U | hex_digit_value(run[2 * i + 1]));
  }
  if (i < size) to[i] = static_cast<char>(hex_digit_value(run[2 * i]) << 4U | 15U);
  std::fill_n(to + size, slack, never_text);
  return {to, size};
}

std::string_view bytes_from(std::size_t bit, std::size_t count, std::string_view bits,
                            Bytes& room) {
  const auto shift = static_cast<unsigned>(bit % 8);
  if (shift == 0) return bits.substr(bit / 8, count);
  char* to = room.make_room(count + slack);
  const char* from = bits.data() + bit / 8;
  std::size_t i = 0;
#if defined(STILE_AVX2)
  if (has_avx2()) i = shifted_by_32(shift, from, count, to);
#endif
  for (; i < count; ++i) {
    to[i] = static_cast<char>(byte_at(from, i) << shift | byte_at(from, i + 1) >> (8 - shift));
  }
  return {to, count};
}

std::size_t find_gzip_start(std::string_view bytes, std::size_t from) noexcept {
#if defined(STILE_AVX2)
  if (has_avx2()) from = near_gzip_start(bytes, from);
#endif
  return std::min(bytes.find(gzip_start, from), bytes.size());
}

Shifts telling_shifts(std::string_view bits, Shifts shifts, std::size_t least_text) noexcept {
#if defined(STILE_AVX2)
  if (has_avx2()) {
    constexpr int pairs_of_13 = 6, pairs_of_8 = 3;
    return least_text >= 13 ? telling_by_32<pairs_of_13>(bits, shifts, least_text)
                            : telling_by_32<pairs_of_8>(bits, shifts, least_text);
  }
#endif
  Shifts telling = 0;
  for (unsigned shift = 0; shift < 8; shift += 2) {
    std::size_t length = 0;
    std::uint32_t last = 0;
    for (std::size_t at = 0; at < bits.size() && (shifts & ~telling & shift_of(shift)) != 0; ++at) {
      const unsigned byte =
          (byte_at(bits.data(), at) << 8U | byte_at(bits.data(), at + 1)) >> (8 - shift) & 0xffU;
      length = is_text(static_cast<char>(byte)) ? length + 1 : 0;
      last = (last << 8U | byte) & 0xffffffU;
      if (length == least_text || last == 0x1f8b08) telling |= shift_of(shift);
    }
  }
  return telling;
}

}  // namespace stile::scan
