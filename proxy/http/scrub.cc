// Scrubber: finds texts in a stream, however it is cut, and replaces them.
#include "proxy/http/scrub.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/base64.h"

namespace stile::http {
namespace {

constexpr std::string_view upper_hex = "0123456789ABCDEF";

std::string hex_of(std::string_view bytes, std::string_view digits) {
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return out;
}

bool is_unreserved(char c) {  // RFC 3986 2.3
  const char lower = to_lower(c);
  return is_digit(c) || (lower >= 'a' && lower <= 'z') || c == '-' || c == '.' || c == '_' ||
         c == '~';
}

std::string percent_encoded(std::string_view bytes, std::string_view digits) {
  std::string out;
  for (const char c : bytes) {
    if (is_unreserved(c)) {
      out += c;
    } else {
      out.append("%").append(hex_of({&c, 1}, digits));
    }
  }
  return out;
}

// The characters of a base64 text that the value alone determines, if it begins `offset` bytes
// after a multiple of three.
std::string base64_inside(std::string_view value, std::size_t offset) {
  const std::string whole = base64(std::string(offset, '\0').append(value));
  const std::size_t first = (offset * 8 + 5) / 6, end = (offset + value.size()) * 8 / 6;
  return whole.substr(first, end - first);
}

}  // namespace

void Scrubber::add(std::string text, std::string replacement) {
  const bool is_known = std::any_of(needles_.begin(), needles_.end(),
                                    [&](const Needle& needle) { return needle.text == text; });
  if (!is_known && !text.empty()) needles_.push_back({std::move(text), std::move(replacement)});
}

void Scrubber::add_secret(std::string_view value, std::string_view replacement) {
  const std::string instead{replacement};
  add(std::string{value}, instead);
  for (std::size_t offset = 0; offset < 3; ++offset) {
    std::string text = base64_inside(value, offset);
    add(text, instead);
    std::replace(text.begin(), text.end(), '+', '-');
    std::replace(text.begin(), text.end(), '/', '_');
    add(std::move(text), instead);
  }
  for (const std::string_view digits : {hex_digits, upper_hex}) {
    add(hex_of(value, digits), instead);
    add(percent_encoded(value, digits), instead);
  }
}

// Returns how many bytes were used: all before the end of the last text that was found.
std::size_t Scrubber::replace(std::string_view bytes, std::string& out) {
  std::size_t used = 0;
  for (;;) {
    std::size_t first = std::string_view::npos;
    const Needle* found = nullptr;
    for (const Needle& needle : needles_) {
      const std::size_t at = bytes.find(needle.text, used);
      const bool is_better = at < first || (at == first && found != nullptr &&
                                            needle.text.size() > found->text.size());
      if (at != std::string_view::npos && is_better) {
        first = at;
        found = &needle;
      }
    }
    if (found == nullptr) return used;
    has_found_ = true;
    out.append(bytes.substr(used, first - used)).append(found->replacement);
    used = first + found->text.size();
  }
}

std::size_t Scrubber::begun_at_the_end_of(std::string_view bytes) const noexcept {
  std::size_t most = 0;
  for (const Needle& needle : needles_) {
    const std::size_t longest = std::min(needle.text.size() - 1, bytes.size());
    for (std::size_t size = longest; size > most; --size) {
      if (bytes.ends_with(std::string_view{needle.text}.substr(0, size))) most = size;
    }
  }
  return most;
}

void Scrubber::feed(std::string_view bytes, std::string& out) {
  std::string joined;
  if (!held_.empty()) {
    joined.swap(held_);
    bytes = joined += bytes;
  }
  bytes.remove_prefix(replace(bytes, out));
  const std::size_t begun = begun_at_the_end_of(bytes);
  out.append(bytes.substr(0, bytes.size() - begun));
  held_.assign(bytes.substr(bytes.size() - begun));
}

void Scrubber::finish(std::string& out) {
  out += held_;
  held_.clear();
}

std::string Scrubber::scrub(std::string_view text) const {
  Scrubber once = *this;
  once.held_.clear();
  std::string out;
  once.feed(text, out);
  once.finish(out);
  return out;
}

}  // namespace stile::http
