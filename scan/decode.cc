// Decoding layers: base64 and hexadecimal runs.
#include "scan/decode.h"

#include <algorithm>

#include "scan/alphabet.h"
#include "scan/bits.h"
#include "scan/stretch.h"

namespace stile::scan {
namespace {

// 16 bytes: no key is shorter. The values of secrets can be; they are looked for in all encodings.
constexpr std::size_t least_base64 = 22, least_hex = 32;
constexpr std::size_t least_line = 60;  // base64 in lines has 64 or 76 characters in each
constexpr CharSet base64_characters{base64_any}, hex_characters{hex};

// Where a run in base64 ends that may be broken into lines, of which the first was found.
std::size_t end_of_lines(std::string_view text, Stretch run) {
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

// Reads runs, with memory that is used again for the next one.
class RunReader {
 public:
  RunReader(bool tries_offsets, std::size_t least_text, std::string& out)
      : tries_offsets_{tries_offsets}, least_text_{least_text}, out_{out} {}

  // Hexadecimal digits may be all of it, or between other characters: a path, 0x, id-.
  void append(std::string_view run) {
    Stretch inner{0, 0};
    do {
      inner = next_stretch(run, inner.end, hex_characters, least_hex);
      append_hex(run.substr(inner.first, inner.end - inner.first));
      if (inner.end - inner.first == run.size()) return;
    } while (inner.end < run.size());
    append_bits(bits_of_base64(run, bits_), 6, run.size(), tries_offsets_ ? 4 : 1);
  }

 private:
  // A digit that belongs to something else may be before the run, or after it.
  void append_hex(std::string_view run) {
    if (run.empty()) return;
    append_bits(bits_of_hex(run, bits_), 4, run.size(),
                tries_offsets_ || run.size() % 2 == 1 ? 2 : 1);
  }

  // What the bits say from the first characters on, each with so many bits.
  void append_bits(std::string_view bits, std::size_t bits_of_each, std::size_t characters,
                   std::size_t offsets) {
    Shifts shifts = 0;
    for (std::size_t i = 0; i < offsets; ++i) shifts |= shift_of(i * bits_of_each);
    if (least_text_ != 0) shifts = telling_shifts(bits, shifts, least_text_);
    for (std::size_t i = 0; i < offsets; ++i) {
      if ((shifts & shift_of(i * bits_of_each)) == 0) continue;
      out_ += bytes_from(i * bits_of_each, bits_of_each * (characters - i) / 8, bits, shifted_);
      out_ += '\0';
    }
  }

  bool tries_offsets_;
  std::size_t least_text_;
  std::string& out_;
  Bytes bits_, shifted_;
};

}  // namespace

void append_decoded_runs(std::string_view text, bool tries_offsets, std::size_t least_text,
                         std::string& out) {
  const auto next_run = [&](std::size_t from) {
    return next_stretch(text, from, base64_characters, least_base64);
  };
  RunReader reader{tries_offsets, least_text, out};
  std::string lines;
  for (Stretch run = next_run(0); run.first < text.size(); run = next_run(run.end)) {
    const std::size_t size = run.end - run.first;
    const std::size_t last = size >= least_line ? end_of_lines(text, run) : run.end;
    if (last > run.end) {
      lines.assign(text.substr(run.first, last - run.first));
      std::erase_if(lines, [](char c) { return c == '\r' || c == '\n'; });
      reader.append(lines);
    } else {
      reader.append(text.substr(run.first, size));
    }
    run.end = last;
  }
}

std::size_t whole_group_before(std::string_view text, std::size_t at) noexcept {
  std::size_t first = stretch_before(text, at, base64_characters), count = at - first;
  while (first > 0 && text[first - 1] == '\n') {
    std::size_t end = first - 1;
    if (end > 0 && text[end - 1] == '\r') --end;
    first = stretch_before(text, end, base64_characters);
    if (end - first < least_line) break;
    count += end - first;
  }
  std::size_t from = at;
  for (std::size_t extra = count % whole_group; extra > 0;) {
    --from;
    if (is_in(base64_any, text[from])) --extra;
  }
  return from;
}

}  // namespace stile::scan
