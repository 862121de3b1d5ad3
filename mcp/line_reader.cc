// LineReader: keeps at most one line that is not complete.
#include "mcp/line_reader.h"

namespace stile::mcp {

void LineReader::add(std::string_view bytes) { buffer_.append(bytes); }

std::optional<LineReader::Line> LineReader::next() {
  const auto end = buffer_.find('\n', searched_);
  if (end == std::string::npos) {
    if (buffer_.size() > most_bytes_ || is_skipping_) {
      is_skipping_ = true;
      buffer_.clear();
    }
    searched_ = buffer_.size();
    return std::nullopt;
  }
  Line line{buffer_.substr(0, end), is_skipping_ || end > most_bytes_};
  if (line.is_too_long) line.text.clear();
  buffer_.erase(0, end + 1);
  searched_ = 0;
  is_skipping_ = false;
  return line;
}

}  // namespace stile::mcp
