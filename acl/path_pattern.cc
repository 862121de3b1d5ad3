// PathPattern: the path of a request rule, with `*` and `**`; and which paths can be judged at all.
#include "acl/path_pattern.h"

#include <optional>

#include "base/ascii.h"
#include "base/quoted.h"

namespace stile::acl {
namespace {

// The byte that an escape at the beginning of the text stands for.
std::optional<unsigned char> escaped_byte(std::string_view text) noexcept {
  if (text.size() < 3 || text[0] != '%') return std::nullopt;
  const int high = hex_value(text[1]), low = hex_value(text[2]);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<unsigned char>(high << 4 | low);
}

bool is_encoded_slash(std::string_view text) noexcept { return escaped_byte(text) == '/'; }

// The beginning of a character in more bytes of UTF-8 than it needs: a lenient server sees a dot or
// a slash in "%c0%ae" and "%e0%80%af".
bool is_overlong(unsigned char byte, std::string_view rest) noexcept {
  const auto next = escaped_byte(rest);
  if (!next || *next < 0x80 || *next > 0xbf) return false;
  return byte == 0xc0 || byte == 0xc1 || (byte == 0xe0 && *next < 0xa0) ||
         (byte == 0xf0 && *next < 0x90);
}

bool is_plain_escape(std::string_view text) noexcept {
  const auto byte = escaped_byte(text);
  if (!byte || *byte < 0x20 || *byte == 0x7f || *byte == '.' || *byte == '\\') return false;
  if (is_overlong(*byte, text.substr(3))) return false;
  if (*byte != '%') return true;
  // "%252e": a server that decodes twice sees a dot.
  return text.size() < 5 || hex_value(text[3]) < 0 || hex_value(text[4]) < 0;
}

// Some servers drop what follows a `;`, and then see "//" or a dot segment. Behind a proxy that
// decodes, also if it was encoded.
bool is_plain_segment(std::string_view segment) noexcept {
  std::size_t end = 0;
  while (end < segment.size() && segment[end] != ';' && escaped_byte(segment.substr(end)) != ';') {
    ++end;
  }
  const std::string_view name = segment.substr(0, end);
  return name != "." && name != ".." && (!name.empty() || segment.empty());
}

// Where the segment at the beginning of the text ends. Some servers decode a slash before they
// resolve dot segments, so an encoded one ends it, too.
std::size_t segment_end(std::string_view text) noexcept {
  std::size_t at = 0;
  while (at < text.size() && text[at] != '/' && !is_encoded_slash(text.substr(at))) ++at;
  return at;
}

}  // namespace

Result<PathPattern> PathPattern::parse(std::string_view text) {
  const auto bad = [&](const std::string& why) { return Error{in_quotes(text) + ' ' + why}; };
  if (text.empty() || text.front() != '/') return bad("does not begin with /");
  if (text.size() > max_length) return Error{"longer than 1024 bytes"};
  if (text.find_first_of("?#") != std::string_view::npos) {
    return bad("has a ? or #; only the path is judged");
  }
  PathPattern pattern;
  pattern.text_ = std::string{text};
  std::string literal;  // the pattern as a path, to check its fixed bytes
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("**")) {
      pattern.tokens_.push_back({Token::Kind::double_star, 0});
      at += 2;
      if (at < text.size() && text[at] == '*') return bad("has more than two * in a row");
      literal += 'x';
    } else if (rest[0] == '*') {
      pattern.tokens_.push_back({Token::Kind::star, 0});
      literal += 'x';
      ++at;
    } else if (is_encoded_slash(rest)) {
      pattern.tokens_.push_back({Token::Kind::encoded_slash, 0});
      literal += "%2f";
      at += 3;
    } else {
      pattern.tokens_.push_back({Token::Kind::byte, rest[0]});
      literal += rest[0];
      ++at;
    }
  }
  if (!is_plain_path(literal)) return bad("can match no path; see the rules for paths");
  return pattern;
}

// All positions in the pattern that the path can have reached so far move on with each byte. Their
// number is at most that of the wildcards before them, so a path costs no more than its length.
bool PathPattern::matches(std::string_view path) const {
  std::vector<std::size_t> now, next;
  const auto reach = [this](std::vector<std::size_t>& places, std::size_t place) {
    for (;; ++place) {
      if (places.empty() || places.back() < place) places.push_back(place);
      // A wildcard can match nothing.
      if (place == tokens_.size() || tokens_[place].kind < Token::Kind::star) return;
    }
  };
  reach(now, 0);
  for (std::size_t at = 0; at < path.size() && !now.empty();) {
    const bool is_slash = path[at] == '/', is_encoded = is_encoded_slash(path.substr(at));
    next.clear();
    for (const std::size_t place : now) {
      if (place == tokens_.size()) continue;
      const Token& token = tokens_[place];
      switch (token.kind) {
        case Token::Kind::byte:
          if (!is_encoded && token.byte == path[at]) reach(next, place + 1);
          break;
        case Token::Kind::encoded_slash:
          if (is_encoded) reach(next, place + 1);
          break;
        case Token::Kind::star:
          if (!is_slash && !is_encoded) reach(next, place);
          break;
        case Token::Kind::double_star:
          if (!is_encoded) reach(next, place);
          break;
      }
    }
    now.swap(next);
    at += is_encoded ? 3 : 1;
  }
  return !now.empty() && now.back() == tokens_.size();
}

bool is_plain_path(std::string_view path) noexcept {
  if (path.empty() || path.front() != '/') return false;
  for (std::size_t at = 0; at < path.size(); ++at) {
    const auto c = static_cast<unsigned char>(path[at]);
    if (c <= 0x20 || c >= 0x7f || c == '\\') return false;
    if (c == '%' && !is_plain_escape(path.substr(at))) return false;
    const bool is_encoded = is_encoded_slash(path.substr(at));
    if (c != '/' && !is_encoded) continue;
    const std::string_view rest = path.substr(at + (is_encoded ? 3 : 1));
    const std::string_view segment = rest.substr(0, segment_end(rest));
    if (!is_encoded && rest.starts_with('/')) return false;  // "//"
    if (!is_plain_segment(segment)) return false;
  }
  return true;
}

}  // namespace stile::acl
