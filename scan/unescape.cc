// Decoding layers: percent escapes, and those of JSON and JavaScript strings.
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

// What a backslash and this character stand for; 0: nothing, or it takes more characters.
constexpr std::array<char, 256> short_escapes = [] {
  std::array<char, 256> table{};
  table['n'] = '\n';
  table['r'] = '\r';
  table['t'] = '\t';
  for (const char c : {'"', '\'', '/', '\\'}) table[static_cast<unsigned char>(c)] = c;
  return table;
}();

// Puts the character at the beginning of the text there, or what an escape stands for. Returns how
// many characters that took.
std::size_t read_escape(std::string_view text, char& character) noexcept {
  character = text[0];
  if ((text[0] != '%' && text[0] != '\\') || text.size() < 2) return 1;
  std::size_t at = 1, digits = 2;
  if (text[0] == '\\') {
    if (const char c = short_escapes[static_cast<unsigned char>(text[1])]; c != 0) {
      character = c;
      return 2;
    }
    if (text[1] != 'u' && text[1] != 'x') return 1;
    at = 2;
    digits = text[1] == 'u' ? 4 : 2;
  }
  if (text.size() < at + digits) return 1;
  int value = 0, valid = 0;
  for (std::size_t i = at; i < at + digits; ++i) {
    const int digit_value = hex_value(text[i]);
    valid |= digit_value;  // negative: it is none
    value = value * 16 + digit_value;
  }
  if (valid < 0) return 1;
  character = digits == 2 || value < 0x80 ? static_cast<char>(value) : '?';
  return at + digits;
}

// A text, of which so much was read, and where it goes without escapes.
struct Unescaping {
  std::string_view text;
  std::size_t done;
  char* to;
  // A backslash was read, or what is not one of the short escapes: with the characters around it,
  // it may be an escape again. What the others stand for cannot: a backslash directly before one
  // would have been read with its backslash.
  bool may_have_more = false;
};

#if defined(STILE_AVX2)
constexpr CharSet second_characters{"0123456789abcdefABCDEFnrtux\"'/\\"};

// Which of 64 characters may begin an escape, by them and the next ones, one bit each.
class Beginnings {
 public:
  STILE_AVX2 Beginnings() noexcept : second_{rows_of(second_characters)} {}

  STILE_AVX2 std::uint64_t operator()(const char* at) const noexcept {
    const __m256i low = first(load_32(at)), high = first(load_32(at + 32));
    return mask_of(low, high) & ~mask_of(no_second(load_32(at + 1)), no_second(load_32(at + 33)));
  }

 private:
  STILE_AVX2 static __m256i first(__m256i characters) noexcept {
    return _mm256_or_si256(_mm256_cmpeq_epi8(characters, _mm256_set1_epi8('%')),
                           _mm256_cmpeq_epi8(characters, _mm256_set1_epi8('\\')));
  }
  STILE_AVX2 __m256i no_second(__m256i characters) const noexcept {
    return _mm256_cmpeq_epi8(in_rows(second_, characters), _mm256_setzero_si256());
  }

  __m256i second_;
};

// The first place that may begin an escape, or where fewer than 65 characters are left.
STILE_AVX2 std::size_t next_beginning_by_64(std::string_view text, std::size_t at) noexcept {
  const Beginnings beginnings;
  for (; at + 64 < text.size(); at += 64) {
    const std::uint64_t found = beginnings(text.data() + at);
    if (found != 0) return at + static_cast<std::size_t>(std::countr_zero(found));
  }
  return at;
}

STILE_AVX2 void copy_64(const char* from, char* to) noexcept {
  const __m256i low = load_32(from), high = load_32(from + 32);
  store_32(to, low);
  store_32(to + 32, high);
}

// Until fewer than 64 characters are left beyond the next 64.
STILE_AVX2 void unescape_by_64(Unescaping& work) noexcept {
  const Beginnings beginnings;
  const char* from = work.text.data() + work.done;
  const char* const end = work.text.data() + work.text.size();
  char* to = work.to;
  for (const char* block = from; end - block >= 2 * 64; block += 64) {
    for (std::uint64_t found = beginnings(block); found != 0; found &= found - 1) {
      const char* place = block + std::countr_zero(found);
      if (place < from) continue;  // a part of the last one
      copy_64(from, to);
      to += place - from;
      const char short_one = short_escapes[static_cast<unsigned char>(place[1])];
      if (*place == '\\' && short_one != 0) {
        work.may_have_more = work.may_have_more || short_one == '\\';
        *to++ = short_one;
        from = place + 2;
      } else {
        const std::size_t size = read_escape({place, static_cast<std::size_t>(end - place)}, *to++);
        work.may_have_more = work.may_have_more || size > 2;
        from = place + size;
      }
    }
    if (from >= block + 64) continue;
    copy_64(from, to);
    to += block + 64 - from;
    from = block + 64;
  }
  work.done = static_cast<std::size_t>(from - work.text.data());
  work.to = to;
}
#endif

// The nearest place from `at` on that may begin an escape; the size of the text if there is none.
std::size_t next_beginning(std::string_view text, std::size_t at) noexcept {
#if defined(STILE_AVX2)
  if (has_avx2()) at = next_beginning_by_64(text, at);
#endif
  while (at < text.size() && text[at] != '%' && text[at] != '\\') ++at;
  return at;
}

}  // namespace

// No escape is shorter than what it stands for.
std::optional<Unescaped> unescape(std::string_view text, Bytes& room) {
  std::size_t at = next_beginning(text, 0);
  for (char character = 0; at < text.size(); at = next_beginning(text, at + 1)) {
    if (read_escape(text.substr(at), character) > 1) break;
  }
  if (at == text.size()) return std::nullopt;
  char* const out = room.make_room(text.size() + slack);
  std::memcpy(out, text.data(), at);
  Unescaping work{text, at, out + at};
#if defined(STILE_AVX2)
  if (has_avx2()) unescape_by_64(work);
#endif
  while (work.done < text.size()) {
    if (const char c = text[work.done]; c != '%' && c != '\\') {
      *work.to++ = c;
      ++work.done;
      continue;
    }
    const std::size_t size = read_escape(text.substr(work.done), *work.to);
    work.may_have_more = work.may_have_more || size > 2 || *work.to == '\\';
    work.done += size;
    ++work.to;
  }
  return Unescaped{{out, static_cast<std::size_t>(work.to - out)}, work.may_have_more};
}

}  // namespace stile::scan
