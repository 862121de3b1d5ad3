// Appender: the escaping of JSON strings.
#include "base/appender.h"

#include <cstring>

#include "base/ascii.h"

namespace stile {
namespace {

constexpr std::array<bool, 256> json_special = [] {
  std::array<bool, 256> set{};
  for (std::size_t byte = 0; byte < set.size(); ++byte) {
    set[byte] = byte < 0x20 || byte > 0x7e || byte == '"' || byte == '\\';
  }
  return set;
}();

// Whether one of the eight bytes is in json_special. A subtraction borrows from the next higher
// byte only if its own byte is below the bound, and then the answer is already yes.
constexpr bool has_json_special(std::uint64_t bytes) {
  constexpr std::uint64_t ones = 0x0101'0101'0101'0101, tops = 0x80 * ones;
  const auto has_below = [](std::uint64_t eight, std::uint64_t bound) {
    return (eight - bound * ones) & ~eight & tops;
  };
  const std::uint64_t above_7e = (bytes + ones) | bytes;
  return (has_below(bytes, 0x20) | (above_7e & tops) | has_below(bytes ^ '"' * ones, 1) |
          has_below(bytes ^ '\\' * ones, 1)) != 0;
}

constexpr std::size_t word_bytes = sizeof(std::uint64_t);

// Copies eight bytes, unless one of them needs an escape.
bool copy_plain_word(char* to, const char* from) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, from, word_bytes);
  if (has_json_special(bytes)) return false;
  std::memcpy(to, &bytes, word_bytes);
  return true;
}

}  // namespace

// Nearly all logged bytes need no escape, so eight are checked together.
void Appender::escaped(std::string_view text) noexcept {
  require(text.size() * max_escape);
  char* at = at_;
  const std::size_t whole = text.size();
  while (text.size() >= word_bytes) {
    if (!copy_plain_word(at, text.data())) break;
    at += word_bytes;
    text.remove_prefix(word_bytes);
  }
  // The rest together with bytes before it, which are copied once more.
  if (whole >= word_bytes && text.size() < word_bytes) {
    const std::size_t again = word_bytes - text.size();
    if (copy_plain_word(at - again, text.data() - again)) {
      at += text.size();
      text = {};
    }
  }
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (!json_special[byte]) {
      *at++ = c;
    } else if (c == '"' || c == '\\') {
      *at++ = '\\';
      *at++ = c;
    } else {
      for (const char sign : {'\\', 'u', '0', '0', hex_digits[byte >> 4], hex_digits[byte & 15]}) {
        *at++ = sign;
      }
    }
  }
  at_ = at;
}

}  // namespace stile
