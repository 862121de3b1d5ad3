// LineReader: bytes in pieces to lines, each within a bound. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace stile::mcp {

class LineReader {
 public:
  struct Line {
    std::string text;          // without the newline; empty if it is too long
    bool is_too_long = false;  // it was left out
  };
  explicit LineReader(std::size_t most_bytes) : most_bytes_{most_bytes} {}

  // All lines of what was added before have to be taken first.
  void add(std::string_view bytes);
  [[nodiscard]] std::optional<Line> next();

 private:
  std::size_t most_bytes_;
  std::string buffer_;
  std::size_t searched_ = 0;  // no newline before this position
  bool is_skipping_ = false;  // the rest of a line that is too long
};

}  // namespace stile::mcp
