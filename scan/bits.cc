// Bits: what long runs of base64 and of hexadecimal digits stand for, and whether that says
// anything.
#include "scan/bits.h"

#include <algorithm>
#include <array>
#include <bit>
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

std::uint32_t base64_value(char c) noexcept {
  return static_cast<std::uint32_t>(base64_values[static_cast<unsigned char>(c)]);
}
unsigned hex_digit_value(char c) noexcept { return hex_values[static_cast<unsigned char>(c)]; }

#if defined(STILE_AVX2)
STILE_AVX2 __m256i load(const char* at) noexcept {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}
STILE_AVX2 void store(char* at, __m256i bytes) noexcept {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), bytes);
}
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
    const __m256i values = base64_values_of(load(run.data() + done));
    // Pairs of six bits to twelve, pairs of twelve to 24, of which the three bytes are then moved
    // together.
    const __m256i twelve = _mm256_maddubs_epi16(values, _mm256_set1_epi32(0x01400140));
    const __m256i whole = _mm256_madd_epi16(twelve, _mm256_set1_epi32(0x00011000));
    const __m256i packed = _mm256_shuffle_epi8(
        whole, both(_mm_setr_epi8(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1)));
    store(to, _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7)));
  }
  return done;
}

template <int shift>
STILE_AVX2 std::size_t shifted_by_32(const char* from, std::size_t count, char* to) noexcept {
  const __m256i first_bits = _mm256_set1_epi8(static_cast<char>(0xff << shift));
  const __m256i last_bits = _mm256_set1_epi8(static_cast<char>(0xff >> (8 - shift)));
  std::size_t done = 0;
  for (; done + 32 < count; done += 32) {
    const __m256i first = _mm256_slli_epi16(load(from + done), shift);
    const __m256i last = _mm256_srli_epi16(load(from + done + 1), 8 - shift);
    store(to + done,
          _mm256_or_si256(_mm256_and_si256(first, first_bits), _mm256_and_si256(last, last_bits)));
  }
  return done;
}

std::size_t shifted_by_32(std::size_t shift, const char* from, std::size_t count,
                          char* to) noexcept {
  if (shift == 2) return shifted_by_32<2>(from, count, to);
  return shift == 4 ? shifted_by_32<4>(from, count, to) : shifted_by_32<6>(from, count, to);
}

STILE_AVX2 std::size_t hex_by_32(std::string_view run, char* to) noexcept {
  std::size_t done = 0;
  for (; done + 32 <= run.size(); done += 32, to += 16) {
    const __m256i chars = load(run.data() + done);
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
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_or_si256(is_blank, is_printed)));
}

// Where one of 32 bytes and the next one may begin gzip data, one bit each.
STILE_AVX2 std::uint32_t gzip_starts(const char* at) noexcept {
  const __m256i first = _mm256_cmpeq_epi8(load(at), _mm256_set1_epi8(gzip_start[0]));
  const __m256i second = _mm256_cmpeq_epi8(load(at + 1), _mm256_set1_epi8(gzip_start[1]));
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_and_si256(first, second)));
}

// The first place that may be one, or where fewer than 32 are left.
STILE_AVX2 std::size_t next_gzip_start(std::string_view bytes, std::size_t at) noexcept {
  for (; at + 32 < bytes.size(); at += 32) {
    const std::uint32_t found = gzip_starts(bytes.data() + at);
    if (found != 0) return at + static_cast<std::size_t>(std::countr_zero(found));
  }
  return at;
}

// Looks at windows of 64 bytes from `at` on, which overlap by one stretch. False: none has
// anything.
STILE_AVX2 bool says_something_by_64(std::string_view bytes, std::size_t least_text,
                                     std::size_t& at) noexcept {
  constexpr std::size_t window = 64, step = window - (longest_text - 1);
  for (; at + window + gzip_start.size() <= bytes.size(); at += step) {
    const char* from = bytes.data() + at;
    std::uint64_t run = text_in(load(from)) | text_in(load(from + 32)) << 32U;
    run &= run >> 1U;
    run &= run >> 2U;
    run &= run >> 4U;
    run &= run >> (least_text - shortest_text);
    if (run != 0) return true;
    if ((gzip_starts(from) | gzip_starts(from + 32)) == 0) continue;
    if (bytes.substr(at, window + gzip_start.size()).find(gzip_start) != bytes.npos) return true;
  }
  return false;
}
#endif

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
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < run.size(); ++i) value |= base64_value(run[i]) << (18 - 6 * i);
  for (std::size_t i = 0; i < run.size(); ++i) *to++ = static_cast<char>(value >> (16 - 8 * i));
  return bits;
}

std::string_view bits_from(std::size_t character, std::size_t run_size,
                           std::string_view bits_of_run, Bytes& room) {
  const std::size_t count = 6 * (run_size - character) / 8;
  const std::size_t first = 6 * character / 8, shift = 6 * character % 8;
  if (shift == 0) return bits_of_run.substr(first, count);
  char* to = room.make_room(count + slack);
  const char* from = bits_of_run.data() + first;
  std::size_t i = 0;
#if defined(STILE_AVX2)
  if (has_avx2()) i = shifted_by_32(shift, from, count, to);
#endif
  const auto byte = [&](std::size_t at) { return unsigned{static_cast<unsigned char>(from[at])}; };
  for (; i < count; ++i) to[i] = static_cast<char>(byte(i) << shift | byte(i + 1) >> (8 - shift));
  return {to, count};
}

std::string_view bits_of_hex(std::string_view run, Bytes& room) {
  const std::size_t size = run.size() / 2;
  char* to = room.make_room(size + slack);
  std::size_t i = 0;
#if defined(STILE_AVX2)
  if (has_avx2()) i = hex_by_32(run, to) / 2;
#endif
  for (; i < size; ++i) {
    to[i] = static_cast<char>(hex_digit_value(run[2 * i]) << 4U | hex_digit_value(run[2 * i + 1]));
  }
  return {to, size};
}

std::size_t find_gzip_start(std::string_view bytes, std::size_t from) noexcept {
  for (std::size_t at = from; at < bytes.size(); ++at) {
#if defined(STILE_AVX2)
    if (has_avx2()) at = next_gzip_start(bytes, at);
#endif
    if (bytes.substr(at).starts_with(gzip_start)) return at;
  }
  return bytes.size();
}

bool says_something(std::string_view bytes, std::size_t least_text) noexcept {
#if defined(STILE_AVX2)
  if (has_avx2()) {
    std::size_t at = 0;
    if (says_something_by_64(bytes, least_text, at)) return true;
    std::array<char, 2 * 64 + longest_text> rest{};  // the last bytes, and zeros
    const std::string_view last = bytes.substr(at);
    std::copy(last.begin(), last.end(), rest.begin());
    at = 0;
    return says_something_by_64({rest.data(), rest.size()}, least_text, at);
  }
#endif
  std::size_t length = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    length = is_text(bytes[at]) ? length + 1 : 0;
    if (length == least_text || bytes.substr(at).starts_with(gzip_start)) return true;
  }
  return false;
}

}  // namespace stile::scan
