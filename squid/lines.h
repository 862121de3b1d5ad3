// Lines: a squid.conf cut into directives, with what it includes in its place.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/diagnostics.h"
#include "squid/files.h"

namespace stile::squid {

// One directive; lines that a backslash joins are one.
struct Line {
  config::Place place;  // of its first line
  std::string name;
  std::vector<std::string> words;  // behind the name, without a comment
  std::string rest;                // the same as it was written, with blanks and all
  [[nodiscard]] std::string text() const;
};

// A comment that squid passes over: `# stile: sni = off`.
struct Option {
  config::Place place;
  std::string name, value;
};

struct Lines {
  std::vector<Line> lines;
  std::vector<Option> options;
};

// squid reads no further than this in one line.
inline constexpr std::size_t max_line_bytes = 8190;
inline constexpr std::size_t max_conf_bytes = std::size_t{8} << 20;
inline constexpr int max_include_depth = 16;
inline constexpr std::size_t max_lines = 200'000;

// Everything that is wrong goes into `problems`; what could be read is returned all the same, so
// that all errors are found at once.
[[nodiscard]] Lines read_lines(const std::string& file, const Files& files,
                               config::Diagnostics& problems);

// Cut at blanks, up to a word that begins with '#'.
[[nodiscard]] std::vector<std::string> split_words(std::string_view text);

}  // namespace stile::squid
