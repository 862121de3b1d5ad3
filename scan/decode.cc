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
// Lines that are this long and not indented are those of one text. Others may be a list.
constexpr std::size_t usual_line = 60;
constexpr CharSet base64_characters{base64_any}, hex_characters{hex};

bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }

// Where the next line begins, after one that ends at `end`; `end` if there is none.
std::size_t next_line(std::string_view text, std::size_t end) noexcept {
  const auto skip_blanks = [&](std::size_t at) {
    const std::size_t most = std::min(text.size(), at + most_blanks);
    while (at < most && is_blank(text[at])) ++at;
    return at;
  };
  std::size_t at = skip_blanks(end);
  const bool is_return = at < text.size() && text[at] == '\r';
  if (is_return) ++at;
  const bool is_newline = at < text.size() && text[at] == '\n';
  if (is_newline) ++at;
  if (!is_return && !is_newline) return end;
  at = skip_blanks(at);
  return at < text.size() && is_in(base64_any, text[at]) ? at : end;
}

std::size_t before_blanks(std::string_view text, std::size_t at) noexcept {
  const std::size_t least = at - std::min(at, most_blanks);
  while (at > least && is_blank(text[at - 1])) --at;
  return at;
}

// Where the line ends that is before the one that begins at `first`; `first` if there is none.
std::size_t end_of_last_line(std::string_view text, std::size_t first) noexcept {
  std::size_t at = before_blanks(text, first);
  const bool is_newline = at > 0 && text[at - 1] == '\n';
  if (is_newline) --at;
  const bool is_return = at > 0 && text[at - 1] == '\r';
  if (is_return) --at;
  return is_newline || is_return ? before_blanks(text, at) : first;
}

// Reads runs, with memory that is used again for the next one.
class RunReader {
 public:
  RunReader(std::size_t least_text, std::string& out) : least_text_{least_text}, out_{out} {}

  // Hexadecimal digits may be all of it, or between other characters: a path, 0x, id-.
  void append(std::string_view run) {
    Stretch inner{0, 0};
    do {
      inner = next_stretch(run, inner.end, hex_characters, least_hex);
      append_hex(run.substr(inner.first, inner.end - inner.first));
      if (inner.end - inner.first == run.size()) return;
    } while (inner.end < run.size());
    append_bits(bits_of_base64(run, bits_), 6, run.size(), 4);
  }

 private:
  void append_hex(std::string_view run) {
    if (!run.empty()) append_bits(bits_of_hex(run, bits_), 4, run.size(), 2);
  }

  // What the bits say from each of the first characters on, which have so many bits each: others
  // may belong to something else.
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

  std::size_t least_text_;
  std::string& out_;
  Bytes bits_, shifted_;
};

// Reads a line of base64 or hexadecimal digits, or as many as follow each other, as one text. Where
// they are not of the usual kind, what is before and after is also read by itself. Returns where
// they end.
std::size_t append_lines(std::string_view text, Stretch line, RunReader& reader) {
  std::string all, part;
  for (;;) {
    const std::string_view characters = text.substr(line.first, line.end - line.first);
    const std::size_t next =
        characters.size() < least_base64 ? line.end : next_line(text, line.end);
    const bool is_last = next == line.end;
    if (is_last && all.empty() && part.empty()) {
      reader.append(characters);
      return line.end;
    }
    part += characters;
    const bool is_usual =
        characters.size() >= usual_line && text[next - 1] == '\n' && !is_blank(text[line.end]);
    if (is_last || !is_usual) {
      if (part.size() >= least_base64) reader.append(part);
      if (is_last && all.empty()) return line.end;
      all += part;
      part.clear();
    }
    if (is_last) break;
    line = {next, next + run_length(text, next, base64_any, text.size())};
  }
  reader.append(all);
  return line.end;
}

}  // namespace

void append_decoded_runs(std::string_view text, std::size_t least_text, std::string& out) {
  RunReader reader{least_text, out};
  for (std::size_t at = 0; at < text.size();) {
    const Stretch line = next_stretch(text, at, base64_characters, least_base64);
    at = line.end;
    if (line.first < line.end) at = append_lines(text, line, reader);
  }
}

std::size_t whole_group_before(std::string_view text, std::size_t at) noexcept {
  at = end_of_last_line(text, before_blanks(text, at));  // `at` may be between two lines
  std::size_t first = stretch_before(text, at, base64_characters), count = at - first;
  for (;;) {
    const std::size_t end = end_of_last_line(text, first);
    if (end == first) break;
    first = stretch_before(text, end, base64_characters);
    if (end - first < least_base64) break;
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
