// Lines: a squid.conf split into directives, with included files in place.
#include "squid/lines.h"

#include <algorithm>

#include "base/quoted.h"

namespace stile::squid {
namespace {

constexpr std::string_view blanks = " \t";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

bool has_control_byte(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
  });
}

class LineReader {
 public:
  LineReader(const Files& files, config::Diagnostics& problems)
      : files_{files}, problems_{problems} {}

  // `from` is the place of the include; the first file has none.
  void read(const std::string& file, const config::Place& from, int depth);
  Lines take() { return std::move(lines_); }

 private:
  void read_text(std::string_view text, const std::string& file, int depth);
  void take_comment(std::string_view comment, const config::Place& place);
  void take_directive(std::string_view text, const config::Place& place, int depth);
  void include(const Directive& line, int depth);

  const Files& files_;
  config::Diagnostics& problems_;
  Lines lines_;
};

void LineReader::read(const std::string& file, const config::Place& from, int depth) {
  const auto text = files_.read(file);
  if (!text) {
    if (from.file.empty()) {
      problems_.file_error(file, text.error().message);
    } else {
      problems_.error(from, "include", text.error().message);
    }
    return;
  }
  if (text->size() > max_conf_bytes) {
    problems_.file_error(file, "is larger than 8 MiB");
    return;
  }
  read_text(*text, file, depth);
}

void LineReader::read_text(std::string_view text, const std::string& file, int depth) {
  std::string joined;
  config::Place begin{file, 0, 0};
  std::uint32_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    ++number;
    const config::Place place{file, number, 0};
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.size() > max_line_bytes) {
      problems_.error(place, "", "the line is longer than squid reads it (8190 bytes)");
      continue;
    }
    if (has_control_byte(line)) {
      problems_.error(place, "", "the line has a control byte");
      continue;
    }
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    if (line.starts_with('#')) {
      take_comment(line.substr(1), place);
      continue;  // also between lines joined by a backslash
    }
    if (line.empty()) continue;
    if (joined.empty()) begin = place;
    if (line.ends_with('\\')) {
      joined += line.substr(0, line.size() - 1);
      if (joined.size() > max_line_bytes) {
        problems_.error(begin, "", "the joined lines are longer than 8190 bytes");
        joined.clear();
      }
      continue;
    }
    joined += line;
    take_directive(joined, begin, depth);
    joined.clear();
  }
  if (!joined.empty()) {
    problems_.error(begin, "", "the file ends behind a backslash, in the middle of a directive");
  }
}

void LineReader::take_comment(std::string_view comment, const config::Place& place) {
  constexpr std::string_view mark = "stile:";
  comment = trimmed(comment);
  if (!comment.starts_with(mark)) return;
  comment.remove_prefix(mark.size());
  const std::size_t equals = comment.find('=');
  if (equals == comment.npos) {
    problems_.error(place, "# stile:", "is not of the form `# stile: name = value`");
    return;
  }
  lines_.options.push_back({place, std::string{trimmed(comment.substr(0, equals))},
                            std::string{trimmed(comment.substr(equals + 1))}});
}

void LineReader::take_directive(std::string_view text, const config::Place& place, int depth) {
  auto words = split_words(text);
  if (words.empty()) return;
  Directive line{place, words.front(), {}, {}};
  const std::string_view written = trimmed(text);
  line.rest = trimmed(written.substr(line.name.size()));
  line.words.assign(std::make_move_iterator(words.begin() + 1),
                    std::make_move_iterator(words.end()));
  if (text.find("${") != text.npos) {
    problems_.error(place, line.name, "macros are not supported", "write the value itself");
  } else if (lines_.lines.size() >= max_lines) {
    if (lines_.lines.size() == max_lines) problems_.error(place, line.name, "too many directives");
    lines_.lines.resize(max_lines);
  } else if (line.name == "include") {
    include(line, depth);
  } else {
    lines_.lines.push_back(std::move(line));
  }
}

void LineReader::include(const Directive& line, int depth) {
  if (depth >= max_include_depth) {
    problems_.error(line.place, "include", "more than 16 files deep");
    return;
  }
  if (line.words.empty()) problems_.error(line.place, "include", "names no file");
  for (const std::string& pattern : line.words) {
    const auto names = files_.glob(pattern);
    if (names.empty()) {
      problems_.error(line.place, "include", "there is no file " + printable(pattern));
    }
    for (const std::string& name : names) {
      if (lines_.lines.size() < max_lines && !problems_.has_errors()) {
        read(name, line.place, depth + 1);
      }
    }
  }
}

}  // namespace

std::string Directive::text() const {
  std::string text = name;
  for (const std::string& word : words) text.append(" ").append(word);
  return text;
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  for (;;) {
    const std::size_t begin = text.find_first_not_of(blanks);
    if (begin == text.npos || text[begin] == '#') return words;
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find_first_of(blanks), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

Lines read_lines(const std::string& file, const Files& files, config::Diagnostics& problems) {
  LineReader reader{files, problems};
  reader.read(file, {}, 0);
  return reader.take();
}

}  // namespace stile::squid
