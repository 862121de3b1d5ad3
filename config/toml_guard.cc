// Checks TOML text before the parser sees it. It only needs to skip strings and comments, since
// dots outside of them occur in keys, headers, numbers and times.
#include "config/toml_guard.h"

#include <algorithm>

namespace stile::config {
namespace {

constexpr unsigned max_dots = 16;

// The index after the string that begins at `start`. An unterminated string ends where the parser
// will report it.
std::size_t skip_string(std::string_view text, std::size_t start) {
  const char quote = text[start];
  const bool has_escapes = quote == '"';
  const bool is_multi_line =
      text.substr(start, 3) == std::string_view{quote == '"' ? "\"\"\"" : "'''"};
  std::size_t i = start + (is_multi_line ? 3 : 1);
  for (; i < text.size(); ++i) {
    if (has_escapes && text[i] == '\\') {
      ++i;
    } else if (is_multi_line && text.substr(i, 3) == text.substr(start, 3)) {
      i += 3;
      while (i < text.size() && text[i] == quote) ++i;  // up to two quotes may end the content
      return i;
    } else if (!is_multi_line && text[i] == quote) {
      return i + 1;
    } else if (!is_multi_line && text[i] == '\n') {
      return i;
    }
  }
  return text.size();
}

constexpr bool is_ascii(char c) noexcept { return static_cast<unsigned char>(c) <= 0x7f; }

// After a backslash, and after the blanks that a backslash at the end of a line removes, the parser
// also checks whether the next character is a blank.
bool escapes_beyond_ascii(std::string_view string) {
  for (std::size_t i = 0; i < string.size(); ++i) {
    if (string[i] != '\\') continue;
    const std::size_t next = string.find_first_not_of(" \t\r\n", i + 1);
    if (next < string.size() && !is_ascii(string[next])) return true;
    ++i;
  }
  return false;
}

}  // namespace

std::optional<TomlFault> find_toml_fault(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  unsigned dots = 0;
  std::uint32_t line = 1;
  for (std::size_t i = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
       i < text.size();) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      const std::size_t end = skip_string(text, i);
      if (c == '"' && escapes_beyond_ascii(text.substr(i, end - i))) {
        return TomlFault{{line, 1}, "a character outside ASCII follows a backslash"};
      }
      for (; i < end; ++i) line += text[i] == '\n' ? 1U : 0U;
      continue;
    }
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    if (!is_ascii(c)) {
      return TomlFault{{line, 1}, "a non-ASCII character is outside of a string"};
    }
    if (c == '\n') {
      ++line;
      dots = 0;
    } else if (c == '=' || c == ',' || c == '{' || c == '[') {
      dots = 0;
    } else if (c == '.' && ++dots > max_dots) {
      return TomlFault{{line, 1}, "a key with too many dots"};
    }
    ++i;
  }
  return std::nullopt;
}

}  // namespace stile::config
