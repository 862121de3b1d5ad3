// Terminal: the properties of standard output.
#include "base/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace stile {
namespace {

constexpr std::size_t usual_width = 80;

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view{} : value;
}

std::string_view code_of(Colour colour) {
  switch (colour) {
    case Colour::none:
      return "";
    case Colour::bold:
      return "\x1b[1m";
    case Colour::dim:
      return "\x1b[2m";
    case Colour::red:
      return "\x1b[31m";
    case Colour::green:
      return "\x1b[32m";
    case Colour::yellow:
      return "\x1b[33m";
  }
  return "";
}

}  // namespace

Terminal Terminal::of_output() {
  if (::isatty(STDOUT_FILENO) == 0) return {};
  winsize size{};
  const bool is_known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  const bool has_colour = environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  return {has_colour, is_known ? size.ws_col : usual_width};
}

std::string Terminal::coloured(std::string_view text, Colour colour) const {
  if (!has_colour || colour == Colour::none) return std::string{text};
  return std::string{code_of(colour)}.append(text).append("\x1b[0m");
}

std::string without_controls(std::string_view text) {
  constexpr unsigned char before_c1 = 0xc2;  // their first byte in UTF-8
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (byte == before_c1 && next >= 0x80 && next <= 0x9f) {
      ++i;
    } else if ((byte >= ' ' && byte != 0x7f) || byte == '\n' || byte == '\t') {
      out += text[i];
    }
  }
  return out;
}

}  // namespace stile
