// A small recursive-descent parser without allocation.
#include "audit/line.h"

#include <charconv>

#include "audit/format.h"
#include "base/ascii.h"

namespace stile::audit {
namespace {

enum class Type : std::uint8_t { text, number, list };
struct KeyInfo {
  std::string_view name;
  Type type;
};
constexpr std::array<KeyInfo, key_count> keys{{
    {"ts", Type::text},         {"seq", Type::number},        {"event", Type::text},
    {"agent", Type::text},      {"src", Type::text},          {"conn", Type::number},
    {"method", Type::text},     {"scheme", Type::text},       {"host", Type::text},
    {"port", Type::number},     {"path", Type::text},         {"verdict", Type::text},
    {"reason", Type::text},     {"rule", Type::text},         {"status", Type::number},
    {"origin", Type::text},     {"sni", Type::text},          {"tls", Type::text},
    {"secret", Type::text},     {"scan", Type::text},         {"request", Type::text},
    {"bytes_up", Type::number}, {"bytes_down", Type::number}, {"duration_ms", Type::number},
    {"stripped", Type::list},   {"count", Type::number},      {"policy", Type::number},
    {"version", Type::text},    {"config", Type::text},       {"torn", Type::text},
    {"actor", Type::text},      {"detail", Type::text},       {"chain", Type::text},
    {"prev", Type::text},
}};
constexpr std::size_t required_keys = 3;  // ts, seq, event

bool is_lower_hex(char byte) { return is_digit(byte) || (byte >= 'a' && byte <= 'f'); }

}  // namespace

// Every step returns `whole` to go on, `torn` if the bytes ended, or `foreign` if a byte is not
// allowed at its position.
class LineReader {
 public:
  LineReader(std::string_view bytes, Line& line) : bytes_{bytes}, line_{line} {}

  LineKind read() {
    line_.values_.fill({});
    if (bytes_.size() > max_line_bytes) return LineKind::foreign;
    LineKind kind = literal("{");
    for (bool first = true; kind == LineKind::whole; first = false) {
      if (!first) {
        if (at_ < bytes_.size() && bytes_[at_] == '}') return end();
        kind = literal(",");
        if (kind != LineKind::whole) return kind;
      }
      kind = pair();
    }
    return kind;
  }

 private:
  LineKind end() const {
    return at_ + 1 == bytes_.size() && next_key_ >= required_keys ? LineKind::whole
                                                                  : LineKind::foreign;
  }

  LineKind literal(std::string_view expected) {
    for (const char byte : expected) {
      if (at_ == bytes_.size()) return LineKind::torn;
      if (bytes_[at_] != byte) return LineKind::foreign;
      ++at_;
    }
    return LineKind::whole;
  }

  LineKind pair() {
    if (next_key_ < required_keys) {  // these are fixed, byte by byte
      if (const LineKind kind = literal("\""); kind != LineKind::whole) return kind;
      if (const LineKind kind = literal(keys[next_key_].name); kind != LineKind::whole) return kind;
      if (const LineKind kind = literal("\":"); kind != LineKind::whole) return kind;
      return value(next_key_++);
    }
    std::string_view name;
    if (const LineKind kind = string(name); kind != LineKind::whole) return kind;
    if (const LineKind kind = literal(":"); kind != LineKind::whole) return kind;
    for (std::size_t key = next_key_; key < keys.size(); ++key) {
      if (keys[key].name != name) continue;
      next_key_ = key + 1;
      return value(key);
    }
    for (std::size_t key = 0; key < next_key_; ++key) {
      if (keys[key].name == name) return LineKind::foreign;  // duplicate or out of order: ambiguous
    }
    std::string_view ignored;
    return any_value(ignored);
  }

  LineKind value(std::size_t key) {
    std::string_view& to = line_.values_[key];
    switch (keys[key].type) {
      case Type::text:
        return string(to);
      case Type::number:
        return number(to);
      case Type::list:
        return list(to);
    }
    return LineKind::foreign;
  }

  LineKind any_value(std::string_view& to) {
    if (at_ == bytes_.size()) return LineKind::torn;
    if (bytes_[at_] == '"') return string(to);
    return bytes_[at_] == '[' ? list(to) : number(to);
  }

  LineKind string(std::string_view& to) {
    if (const LineKind kind = literal("\""); kind != LineKind::whole) return kind;
    const std::size_t begin = at_;
    for (; at_ < bytes_.size(); ++at_) {
      const char byte = bytes_[at_];
      if (byte == '"') {
        to = bytes_.substr(begin, at_++ - begin);
        return LineKind::whole;
      }
      if (byte < 0x20 || byte > 0x7e) return LineKind::foreign;
      if (byte != '\\') continue;
      if (const LineKind kind = escape(); kind != LineKind::whole) return kind;
    }
    return LineKind::torn;
  }

  // \" \\ or \u00NN; stops on its last byte.
  LineKind escape() {
    if (++at_ == bytes_.size()) return LineKind::torn;
    if (bytes_[at_] == '"' || bytes_[at_] == '\\') return LineKind::whole;
    if (const LineKind kind = literal("u00"); kind != LineKind::whole) return kind;
    for (int digit = 0; digit < 2; ++digit, ++at_) {
      if (at_ == bytes_.size()) return LineKind::torn;
      if (!is_lower_hex(bytes_[at_])) return LineKind::foreign;
    }
    --at_;
    return LineKind::whole;
  }

  LineKind number(std::string_view& to) {
    const std::size_t begin = at_;
    while (at_ < bytes_.size() && is_digit(bytes_[at_])) ++at_;
    to = bytes_.substr(begin, at_ - begin);
    const bool is_at_end = at_ == bytes_.size();  // more digits may have followed
    if (to.empty()) return is_at_end ? LineKind::torn : LineKind::foreign;
    std::uint64_t parsed{};
    const bool fits = std::from_chars(to.data(), to.data() + to.size(), parsed).ec == std::errc{};
    const bool has_leading_zero = to.size() > 1 && to.front() == '0';
    if (!fits || has_leading_zero) return LineKind::foreign;
    return is_at_end ? LineKind::torn : LineKind::whole;  // a line never ends in a number
  }

  LineKind list(std::string_view& to) {
    const std::size_t begin = at_;
    if (const LineKind kind = literal("["); kind != LineKind::whole) return kind;
    if (at_ == bytes_.size()) return LineKind::torn;
    if (bytes_[at_] == ']') {
      to = bytes_.substr(begin, ++at_ - begin);
      return LineKind::whole;
    }
    for (std::string_view item;;) {
      if (const LineKind kind = string(item); kind != LineKind::whole) return kind;
      if (at_ == bytes_.size()) return LineKind::torn;
      if (bytes_[at_] == ']') break;
      if (const LineKind kind = literal(","); kind != LineKind::whole) return kind;
    }
    to = bytes_.substr(begin, ++at_ - begin);
    return LineKind::whole;
  }

  std::string_view bytes_;
  Line& line_;
  std::size_t at_ = 0;
  std::size_t next_key_ = 0;
};

std::string_view text(Key key) noexcept { return keys[static_cast<std::size_t>(key)].name; }

std::string Line::text(Key key) const {
  const std::string_view escaped = raw(key);
  std::string bytes;
  bytes.reserve(escaped.size());
  for (std::size_t at = 0; at < escaped.size(); ++at) {
    if (escaped[at] != '\\') {
      bytes += escaped[at];
    } else if (escaped[++at] != 'u') {
      bytes += escaped[at];
    } else {  // u00NN
      bytes += static_cast<char>(hex_value(escaped[at + 3]) * 16 + hex_value(escaped[at + 4]));
      at += 4;
    }
  }
  return bytes;
}

std::uint64_t Line::number(Key key) const noexcept {
  const std::string_view digits = raw(key);
  std::uint64_t parsed = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), parsed);
  return parsed;
}

LineKind read_line(std::string_view bytes, Line& line) noexcept {
  return LineReader{bytes, line}.read();
}

}  // namespace stile::audit
