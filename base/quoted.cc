// Untrusted text in a form that is safe in a message and on a terminal.
#include "base/quoted.h"

#include <cstddef>

#include "base/ascii.h"

namespace stile {

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c >= 0x20 && c < 0x7f) {
      out += c;
    } else {
      out += "\\x";
      append_hex(out, static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t max_shown = 80;
  return '\'' + printable(text.substr(0, max_shown)) + (text.size() > max_shown ? "...'" : "'");
}

bool is_plain_word(std::string_view text) {
  constexpr std::string_view harmless =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:/+@%,";
  return !text.empty() && text.find_first_not_of(harmless) == std::string_view::npos;
}

std::string shell_word(std::string_view text) {
  if (is_plain_word(text)) return std::string{text};
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string{"'\\''"} : std::string{c};
  return quoted + "'";
}

std::string quoted_literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace stile
