// encoded_forms: the ways in which a text usually appears in a request or an answer.
#include "base/encoded_forms.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/base64.h"
#include "base/contains.h"
#include "base/wipe.h"

namespace stile {
namespace {

constexpr std::string_view upper_hex = "0123456789ABCDEF";

std::string hex_of(std::string_view bytes, std::string_view digits) {
  std::string out;
  out.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return out;
}

bool is_unreserved(char c) {  // RFC 3986 2.3
  return is_digit(c) || is_letter(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

// Many programs leave the characters that have a meaning in a path or query as they are.
std::string percent_encoded(std::string_view bytes, std::string_view digits,
                            std::string_view kept = {}) {
  std::string out;
  out.reserve(3 * bytes.size());
  for (const char c : bytes) {
    if (is_unreserved(c) || kept.find(c) != std::string_view::npos) {
      out += c;
    } else {
      out.append("%").append(hex_of({&c, 1}, digits));
    }
  }
  return out;
}

// JSON, as PHP writes it.
std::string with_escaped_slashes(std::string_view bytes) {
  std::string out;
  out.reserve(2 * bytes.size());
  for (const char c : bytes) {
    if (c == '/') out += '\\';
    out += c;
  }
  return out;
}

// The characters of a base64 text that the value alone determines, if it begins `offset` bytes
// after a multiple of three.
std::string base64_inside(std::string_view value, std::size_t offset) {
  std::string shifted;
  shifted.reserve(offset + value.size());
  shifted.append(offset, '\0').append(value);
  std::string whole = base64(shifted);
  const std::size_t first = (offset * 8 + 5) / 6, end = (offset + value.size()) * 8 / 6;
  std::string part = whole.substr(first, end - first);
  wipe(shifted);
  wipe(whole);
  return part;
}

}  // namespace

std::vector<std::string> encoded_forms(std::string_view value) {
  constexpr std::size_t most = 14;
  std::vector<std::string> forms;
  forms.reserve(most);  // a vector that grows leaves copies of short texts behind
  const auto add = [&](std::string form) {
    if (!form.empty() && !contains(forms, form)) {
      forms.push_back(std::move(form));
    } else {
      wipe(form);
    }
  };
  add(std::string{value});
  add(with_escaped_slashes(value));
  for (std::size_t offset = 0; offset < 3; ++offset) {
    std::string text = base64_inside(value, offset);
    add(text);
    std::replace(text.begin(), text.end(), '+', '-');
    std::replace(text.begin(), text.end(), '/', '_');
    add(std::move(text));
  }
  for (const std::string_view digits : {hex_digits, upper_hex}) {
    add(hex_of(value, digits));
    add(percent_encoded(value, digits));
    add(percent_encoded(value, digits, "/"));
  }
  return forms;
}

}  // namespace stile
