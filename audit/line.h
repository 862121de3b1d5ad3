// The reader of audit lines: strict, since it reads only lines that Stile has written.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stile::audit {

// In their order in a line.
enum class Key : std::uint8_t {
  ts,
  seq,
  event,
  agent,
  src,
  conn,
  method,
  scheme,
  host,
  port,
  path,
  verdict,
  reason,
  rule,
  status,
  origin,
  sni,
  tls,
  secret,
  scan,
  request,
  bytes_up,
  bytes_down,
  duration_ms,
  stripped,
  count,
  policy,
  version,
  config,
  torn,
  actor,
  detail,
  chain,
  prev,
};
inline constexpr std::size_t key_count = static_cast<std::size_t>(Key::prev) + 1;
[[nodiscard]] std::string_view text(Key key) noexcept;

class Line {
 public:
  // The raw value: text still escaped and without its quotes, a list with its brackets. Empty if
  // the key is missing. Points into the input bytes.
  [[nodiscard]] std::string_view raw(Key key) const noexcept {
    return values_[static_cast<std::size_t>(key)];
  }
  [[nodiscard]] std::string text(Key key) const;               // unescaped: the agent's bytes
  [[nodiscard]] std::uint64_t number(Key key) const noexcept;  // 0 if missing

 private:
  friend class LineReader;
  std::array<std::string_view, key_count> values_{};
};

enum class LineKind : std::uint8_t {
  whole,
  torn,     // the beginning of a line, cut at any byte
  foreign,  // not written by Stile
};

// `bytes` is without the newline. A whole line is one JSON object that starts with `ts`, `seq` and
// `event`. Known keys have a fixed order and type; unknown keys are skipped. Unless the result is
// `whole`, `line` is unspecified.
[[nodiscard]] LineKind read_line(std::string_view bytes, Line& line) noexcept;

}  // namespace stile::audit
