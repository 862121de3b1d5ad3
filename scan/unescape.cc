// Decoding layers: percent escapes, and those of JSON and JavaScript strings.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "base/ascii.h"
#include "scan/decode.h"
#include "scan/stretch.h"
#include "scan/vectors.h"

namespace stile::scan {
namespace {

constexpr std::size_t longest_escape = 6;

// What a backslash and this character stand for; 0: nothing, or it takes more characters.
constexpr std::array<char, 256> short_escapes = [] {
  std::array<char, 256> table{};
  table['n'] = table['r'] = '\n';
  table['t'] = '\t';
  for (const char c : {'"', '\'', '/', '\\'}) table[static_cast<unsigned char>(c)] = c;
  return table;
}();

// The number that so many hexadecimal digits stand for; -1: they are none.
int number_at(std::string_view text, std::size_t at, std::size_t digits) noexcept {
  int value = 0;
  if (text.size() < at + digits) return -1;
  for (std::size_t i = at; i < at + digits; ++i) {
    const int digit_value = hex_value(text[i]);
    if (digit_value < 0) return -1;
    value = value * 16 + digit_value;
  }
  return value;
}

// One escape at the beginning of the text: its size, and the character; 0: it is none.
std::size_t read_escape(std::string_view text, char& character) noexcept {
  if (text.size() < 2) return 0;
  std::size_t at = 1, digits = 2;
  if (text[0] == '\\') {
    character = short_escapes[static_cast<unsigned char>(text[1])];
    if (character != 0) return 2;
    if (text[1] != 'u' && text[1] != 'x') return 0;
    at = 2;
    digits = text[1] == 'u' ? 4 : 2;
  }
  const int value = number_at(text, at, digits);
  character = digits == 2 || value < 0x80 ? static_cast<char>(value) : '?';
  return value < 0 ? 0 : at + digits;
}

// A text, of which so much was read, and where it goes without escapes.
struct Unescaping {
  std::string_view text;
  std::size_t done;
  char* to;
};

#if defined(STILE_AVX2)
constexpr CharSet hex_digits_set{hex}, after_backslash{"nrt\"'/\\ux"};

// Where one of 32 characters may begin an escape, by it and the next one.
class Beginnings {
 public:
  STILE_AVX2 Beginnings() noexcept
      : percent_{rows_of(hex_digits_set)}, back_{rows_of(after_backslash)} {}

  STILE_AVX2 std::uint32_t operator()(__m256i bytes, const char* at) const noexcept {
    const __m256i next = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at + 1));
    const __m256i found = _mm256_or_si256(
        _mm256_and_si256(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('%')), in_rows(percent_, next)),
        _mm256_and_si256(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\\')), in_rows(back_, next)));
    return ~static_cast<std::uint32_t>(
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(found, _mm256_setzero_si256())));
  }

 private:
  __m256i percent_, back_;
};

STILE_AVX2 std::size_t next_escape_by_32(std::string_view text, std::size_t at) noexcept {
  const Beginnings beginnings;
  for (; at + 32 < text.size(); at += 32) {
    const char* from = text.data() + at;
    const std::uint32_t found =
        beginnings(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)), from);
    if (found != 0) return at + static_cast<std::size_t>(std::countr_zero(found));
  }
  return at;
}

// Copies up to there, which is at most 32 characters.
STILE_AVX2 void copy_32(Unescaping& work, std::size_t end) noexcept {
  const char* from = work.text.data() + work.done;
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(work.to),
                      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  work.to += end - work.done;
  work.done = end;
}

STILE_AVX2 void unescape_by_32(Unescaping& work) noexcept {
  const Beginnings beginnings;
  for (std::size_t at = work.done; at + 64 + longest_escape <= work.text.size(); at += 32) {
    const char* from = work.text.data() + at;
    auto found = beginnings(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)), from);
    for (; found != 0; found &= found - 1) {
      const std::size_t place = at + static_cast<std::size_t>(std::countr_zero(found));
      if (place < work.done) continue;  // a part of the last one
      char character = 0;
      const std::size_t size = read_escape(work.text.substr(place, longest_escape), character);
      if (size == 0) continue;
      copy_32(work, place);
      *work.to++ = character;
      work.done = place + size;
    }
    if (work.done < at + 32) copy_32(work, at + 32);
  }
}
#endif

// The nearest place from `at` on that may begin an escape; the size of the text if there is none.
std::size_t next_escape(std::string_view text, std::size_t at) noexcept {
#if defined(STILE_AVX2)
  if (has_avx2()) at = next_escape_by_32(text, at);
#endif
  while (at < text.size() && text[at] != '%' && text[at] != '\\') ++at;
  return at;
}

}  // namespace

// No escape is shorter than what it stands for.
std::optional<std::string_view> unescape(std::string_view text, Bytes& room) {
  std::size_t at = next_escape(text, 0);
  for (char character = 0; at < text.size(); at = next_escape(text, at + 1)) {
    if (read_escape(text.substr(at, longest_escape), character) > 0) break;
  }
  if (at == text.size()) return std::nullopt;
  char* const out = room.make_room(text.size() + slack);
  std::memcpy(out, text.data(), at);
  Unescaping work{text, at, out + at};
#if defined(STILE_AVX2)
  if (has_avx2()) unescape_by_32(work);
#endif
  while (work.done < text.size()) {
    char character = text[work.done];
    const bool may_be_escape = character == '%' || character == '\\';
    const std::size_t size =
        may_be_escape ? read_escape(text.substr(work.done, longest_escape), character) : 0;
    *work.to++ = size > 0 ? character : text[work.done];
    work.done += std::max<std::size_t>(size, 1);
  }
  return std::string_view{out, static_cast<std::size_t>(work.to - out)};
}

}  // namespace stile::scan
