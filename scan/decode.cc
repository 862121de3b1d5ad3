// Decoding layers: escapes, base64 and hexadecimal runs.
#include "scan/decode.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/ascii.h"
#include "scan/alphabet.h"

namespace stile::scan {
namespace {

// 16 bytes: no key is shorter. The values of secrets can be; they are looked for in all encodings.
constexpr std::size_t least_base64 = 22, least_hex = 32;
constexpr std::size_t least_line = 60;  // base64 in lines has 64 or 76 characters in each

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

std::uint32_t value_of(char c) noexcept {
  return static_cast<std::uint32_t>(base64_values[static_cast<unsigned char>(c)]);
}

// The bits of a run that has only characters of the alphabet; the last byte may have fewer than 8.
void decode_base64(std::string_view run, std::string& bits_of_run) {
  bits_of_run.resize((6 * run.size() + 7) / 8);
  char* to = bits_of_run.data();
  while (run.size() >= 4) {
    const std::uint32_t bits = value_of(run[0]) << 18U | value_of(run[1]) << 12U |
                               value_of(run[2]) << 6U | value_of(run[3]);
    *to++ = static_cast<char>(bits >> 16U);
    *to++ = static_cast<char>(bits >> 8U);
    *to++ = static_cast<char>(bits);
    run.remove_prefix(4);
  }
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < run.size(); ++i) bits |= value_of(run[i]) << (18 - 6 * i);
  for (std::size_t i = 0; i < run.size(); ++i) *to++ = static_cast<char>(bits >> (16 - 8 * i));
}

// What the run says from one of its first four characters on, of which the bits were decoded.
void append_from(std::size_t character, std::size_t run_size, std::string_view bits_of_run,
                 std::string& out) {
  const std::size_t begin = out.size(), count = 6 * (run_size - character) / 8;
  const std::size_t first = 6 * character / 8, shift = 6 * character % 8;
  if (shift == 0) {
    out.append(bits_of_run, first, count);
    return;
  }
  out.resize(begin + count);
  const auto* from = reinterpret_cast<const unsigned char*>(bits_of_run.data()) + first;
  auto* to = reinterpret_cast<unsigned char*>(out.data()) + begin;
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = static_cast<unsigned char>(from[i] << shift | from[i + 1] >> (8 - shift));
  }
}

constexpr std::array<std::uint8_t, 256> hex_values = [] {
  std::array<std::uint8_t, 256> table{};
  for (unsigned c = 0; c < 128; ++c) {
    const int value = hex_value(static_cast<char>(c));
    table[c] = static_cast<std::uint8_t>(value < 0 ? 0 : value);
  }
  return table;
}();

// The run has only hexadecimal digits.
void append_hex_run(std::string_view run, std::string& out) {
  const auto value = [&](std::size_t i) {
    return unsigned{hex_values[static_cast<unsigned char>(run[i])]};
  };
  const std::size_t begin = out.size(), count = run.size() / 2;
  out.resize(begin + count);
  for (std::size_t i = 0; i < count; ++i) {
    out[begin + i] = static_cast<char>(value(2 * i) << 4U | value(2 * i + 1));
  }
}

#if defined(__SSE2__)
constexpr std::size_t block = 16;

__m128i load_block(const char* at) noexcept {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}
unsigned bits_of(__m128i bytes) noexcept { return static_cast<unsigned>(_mm_movemask_epi8(bytes)); }

// Which of the characters of a block are not of base64_any, one bit each.
unsigned others_in_block(const char* at) noexcept {
  const __m128i bytes = load_block(at), lower = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
  const auto between = [](__m128i value, char first, char last) {
    return _mm_and_si128(_mm_cmpgt_epi8(value, _mm_set1_epi8(static_cast<char>(first - 1))),
                         _mm_cmplt_epi8(value, _mm_set1_epi8(static_cast<char>(last + 1))));
  };
  const auto is = [&](char c) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); };
  const __m128i letters = between(lower, 'a', 'z');
  const __m128i digits = between(bytes, '/', '9');  // the slash comes before the digits
  const __m128i marks = _mm_or_si128(_mm_or_si128(is('+'), is('-')), is('_'));
  return 0xffffU & ~bits_of(_mm_or_si128(_mm_or_si128(letters, digits), marks));
}
#endif

struct Run {
  std::size_t first, end;
};

// The next run of base64 from `from` on that is long enough; empty, at the end of the text, if
// there is none.
Run next_run(std::string_view text, std::size_t from) noexcept {
  std::size_t first = from, at = from;
#if defined(__SSE2__)
  for (; at + block <= text.size(); at += block) {
    const unsigned others = others_in_block(text.data() + at);
    if (others == 0) continue;
    const std::size_t end = at + static_cast<std::size_t>(std::countr_zero(others));
    if (end - first >= least_base64) return {first, end};
    first = at + static_cast<std::size_t>(std::bit_width(others));  // after the last one
  }
#endif
  for (; at < text.size(); ++at) {
    if (is_in(base64_any, text[at])) continue;
    if (at - first >= least_base64) return {first, at};
    first = at + 1;
  }
  return at - first >= least_base64 ? Run{first, at} : Run{at, at};
}

// Where a run in base64 ends that may be broken into lines, of which the first was found.
std::size_t end_of_lines(std::string_view text, Run run) {
  std::size_t line = run.first, end = run.end;
  for (;;) {
    while (end < text.size() && is_in(base64_any, text[end])) ++end;
    std::size_t next = end;
    if (next < text.size() && text[next] == '\r') ++next;
    if (next >= text.size() || text[next] != '\n' || end - line < least_line) return end;
    line = next + 1;
    if (line >= text.size() || !is_in(base64_any, text[line])) return end;
    end = line;
  }
}

// A digit that belongs to something else may be before the run, or after it.
void append_hex_at_offsets(std::string_view run, bool tries_offsets, std::string& out) {
  if (run.size() < least_hex) return;
  append_hex_run(run, out);
  out += '\0';
  if (tries_offsets || run.size() % 2 == 1) {
    append_hex_run(run.substr(1), out);
    out += '\0';
  }
}

// The hexadecimal runs between other characters of base64: a path, 0x, id-.
void append_inner_hex(std::string_view run, bool tries_offsets, std::string& out) {
  // A run that is long enough covers a multiple of its least length.
  for (std::size_t i = least_hex - 1; i < run.size(); i += least_hex) {
    if (!is_in(hex, run[i])) continue;
    std::size_t first = i;
    while (first > 0 && is_in(hex, run[first - 1])) --first;
    const std::size_t end = i + run_length(run, i, hex, run.size());
    append_hex_at_offsets(run.substr(first, end - first), tries_offsets, out);
    i = end;
  }
}

// `scratch` is reused from run to run.
void append_run(std::string_view run, bool tries_offsets, std::string& scratch, std::string& out) {
  if (run_length(run, 0, hex, run.size()) == run.size()) {
    return append_hex_at_offsets(run, tries_offsets, out);
  }
  append_inner_hex(run, tries_offsets, out);
  decode_base64(run, scratch);
  const std::size_t offsets = tries_offsets ? 4 : 1;
  for (std::size_t offset = 0; offset < offsets; ++offset) {
    append_from(offset, run.size(), scratch, out);
    out += '\0';
  }
}

// One escape at the beginning of the text: its size, and the character; 0: it is none.
std::size_t read_escape(std::string_view text, char& character) {
  const auto number = [&](std::size_t at, std::size_t digits) {
    int value = 0;
    if (text.size() < at + digits) return -1;
    for (const char c : text.substr(at, digits)) {
      if (hex_value(c) < 0) return -1;
      value = value * 16 + hex_value(c);
    }
    return value;
  };
  const bool is_percent = text[0] == '%';
  if (text.size() < 2) return 0;
  if (is_percent || text[1] == 'x') {
    const std::size_t at = is_percent ? 1 : 2;
    const int value = number(at, 2);
    character = static_cast<char>(value);
    return value < 0 ? 0 : at + 2;
  }
  switch (text[1]) {
    case 'u': {
      const int value = number(2, 4);
      character = value < 0x80 ? static_cast<char>(value) : '?';
      return value < 0 ? 0 : 6;
    }
    case 'n':
    case 'r':
      character = '\n';
      return 2;
    case 't':
      character = '\t';
      return 2;
    case '"':
    case '\'':
    case '/':
    case '\\':
      character = text[1];
      return 2;
    default:
      return 0;
  }
}

// The nearest place of % or a backslash from `at` on; the size of the text if there is none.
std::size_t next_escape(std::string_view text, std::size_t at) noexcept {
#if defined(__SSE2__)
  const __m128i percent = _mm_set1_epi8('%'), back = _mm_set1_epi8('\\');
  for (; at + block <= text.size(); at += block) {
    const __m128i bytes = load_block(text.data() + at);
    const unsigned found =
        bits_of(_mm_or_si128(_mm_cmpeq_epi8(bytes, percent), _mm_cmpeq_epi8(bytes, back)));
    if (found != 0) return at + static_cast<std::size_t>(std::countr_zero(found));
  }
#endif
  while (at < text.size() && text[at] != '%' && text[at] != '\\') ++at;
  return at;
}

}  // namespace

// No escape is shorter than what it stands for.
bool unescape(std::string_view text, std::string& out) {
  char* to = nullptr;
  std::size_t done = 0;
  for (std::size_t at = next_escape(text, 0); at < text.size();) {
    char character = 0;
    const std::size_t size = read_escape(text.substr(at, 6), character);
    if (size == 0) {
      at = next_escape(text, at + 1);
      continue;
    }
    if (to == nullptr) {
      out.resize(text.size());
      to = out.data();
    }
    std::memcpy(to, text.data() + done, at - done);
    to += at - done;
    *to++ = character;
    done = at + size;
    at = next_escape(text, done);
  }
  if (to == nullptr) return false;
  std::memcpy(to, text.data() + done, text.size() - done);
  to += text.size() - done;
  out.resize(static_cast<std::size_t>(to - out.data()));
  return true;
}

void append_decoded_runs(std::string_view text, bool tries_offsets, std::string& out) {
  std::string lines, scratch;
  for (Run run = next_run(text, 0); run.first < text.size(); run = next_run(text, run.end)) {
    const std::size_t size = run.end - run.first;
    const std::size_t last = size >= least_line ? end_of_lines(text, run) : run.end;
    if (last > run.end) {
      lines.assign(text.substr(run.first, last - run.first));
      std::erase_if(lines, [](char c) { return c == '\r' || c == '\n'; });
      append_run(lines, tries_offsets, scratch, out);
    } else {
      append_run(text.substr(run.first, size), tries_offsets, scratch, out);
    }
    run.end = last;
  }
}

std::size_t whole_group_before(std::string_view text, std::size_t at) noexcept {
  constexpr std::size_t longest_break = 2, most_back = 8;
  std::size_t first = at, count = 0;
  for (std::size_t blanks = 0; first > 0 && blanks <= longest_break; --first) {
    const char c = text[first - 1];
    if (is_in(base64_any, c)) {
      ++count;
      blanks = 0;
    } else if (c == '\r' || c == '\n') {
      ++blanks;
    } else {
      break;
    }
  }
  std::size_t from = at;
  for (std::size_t extra = count % 4; extra > 0;) {
    --from;
    if (is_in(base64_any, text[from])) --extra;
  }
  return at - from <= most_back ? from : at;  // lines of single characters are no base64
}

}  // namespace stile::scan
