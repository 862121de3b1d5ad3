// Lines: a squid.conf split into directives, with included files in place.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/diagnostics.h"
#include "squid/files.h"

namespace stile::squid {

// One directive; lines joined by a backslash are one.
struct Directive {
  config::Place place;  // of its first line
  std::string name;
  std::vector<std::string> words;  // after the name, without a comment
  std::string rest;                // the same as written, with all blanks
  [[nodiscard]] std::string text() const;
};

// A comment that squid ignores: `# stile: sni = off`.
struct Option {
  config::Place place;
  std::string name, value;
};

struct Lines {
  std::vector<Directive> lines;
  std::vector<Option> options;
};

// squid's limit for one line.
inline constexpr std::size_t max_line_bytes = 8190;
inline constexpr std::size_t max_conf_bytes = std::size_t{8} << 20;
inline constexpr int max_include_depth = 16;
inline constexpr std::size_t max_lines = 200'000;

// Adds all errors to `problems`. Still returns what could be read, so that all errors are found
// together.
[[nodiscard]] Lines read_lines(const std::string& file, const Files& files,
                               config::Diagnostics& problems);

// Splits at blanks, up to a word that begins with '#'.
[[nodiscard]] std::vector<std::string> split_words(std::string_view text);

}  // namespace stile::squid
