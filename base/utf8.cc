// UTF-8: the table of well-formed sequences of the Unicode standard (table 3-7).
#include "base/utf8.h"

#include <algorithm>
#include <cstdint>

namespace stile {
namespace {

struct Form {
  std::size_t length = 1;  // 0: no character begins with this byte
  std::uint8_t second_least = 0x80, second_most = 0xbf;
};

Form form_of(std::uint8_t first) noexcept {
  if (first < 0x80) return {};
  if (first >= 0xc2 && first <= 0xdf) return {2};
  if (first == 0xe0) return {3, 0xa0, 0xbf};
  if (first == 0xed) return {3, 0x80, 0x9f};  // no surrogates
  if (first >= 0xe1 && first <= 0xef) return {3};
  if (first == 0xf0) return {4, 0x90, 0xbf};
  if (first >= 0xf1 && first <= 0xf3) return {4};
  if (first == 0xf4) return {4, 0x80, 0x8f};
  return {0};
}

// How many of these bytes could belong to a character that begins here.
std::size_t fitting(std::string_view bytes, const Form& form) noexcept {
  const auto most = std::min(bytes.size(), form.length);
  for (std::size_t i = 1; i < most; ++i) {
    const auto byte = static_cast<std::uint8_t>(bytes[i]);
    const auto least_here = i == 1 ? form.second_least : std::uint8_t{0x80};
    const auto most_here = i == 1 ? form.second_most : std::uint8_t{0xbf};
    if (byte < least_here || byte > most_here) return i;
  }
  return most;
}

}  // namespace

std::string valid_utf8(std::string_view bytes) {
  constexpr std::string_view replacement = "\xef\xbf\xbd";
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const auto form = form_of(static_cast<std::uint8_t>(bytes[0]));
    if (form.length != 0 && fitting(bytes, form) == form.length) {
      text += bytes.substr(0, form.length);
      bytes.remove_prefix(form.length);
    } else {
      text += replacement;
      bytes.remove_prefix(1);
    }
  }
  return text;
}

std::size_t whole_utf8(std::string_view bytes) noexcept {
  constexpr std::size_t longest = 4;
  for (std::size_t back = 1; back < longest && back <= bytes.size(); ++back) {
    const auto rest = bytes.substr(bytes.size() - back);
    const auto form = form_of(static_cast<std::uint8_t>(rest[0]));
    if (form.length > back && fitting(rest, form) == back) return bytes.size() - back;
  }
  return bytes.size();
}

}  // namespace stile
