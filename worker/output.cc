// Output: the last bytes that a task wrote.
#include "worker/output.h"

#include <algorithm>

#include "base/utf8.h"

namespace stile::worker {

void Output::append(std::string_view bytes) {
  bytes_ += bytes;
  // Drops in larger steps, so that not every append moves the whole buffer.
  if (bytes_.size() <= most_ + most_ / 4) return;
  const auto dropped = bytes_.size() - most_;
  bytes_.erase(0, dropped);
  begin_ += dropped;
}

Output::Piece Output::read(std::uint64_t cursor, std::size_t most_bytes, bool is_over) const {
  const auto from = std::clamp(cursor, begin_, end());
  auto bytes = std::string_view{bytes_}.substr(from - begin_, most_bytes);
  const bool is_last = from + bytes.size() == end();
  if (const auto whole = whole_utf8(bytes); !(is_last && is_over) && whole > 0) {
    bytes = bytes.substr(0, whole);
  } else if (!is_over && whole == 0) {
    bytes = {};
  }
  return {valid_utf8(bytes), from + bytes.size(), from > cursor ? from - cursor : 0};
}

bool Output::has_text_after(std::uint64_t cursor, bool is_over) const {
  constexpr std::size_t longest_character = 4;
  return !read(cursor, longest_character, is_over).text.empty();
}

}  // namespace stile::worker
