// Parts of log lines: numbers, time stamps and text that an agent chose.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace stile::audit {

// A count for people: "1 line", "2 lines".
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view noun);

// The inside of a JSON string, ASCII only. Every byte outside 0x20–0x7e becomes \u00NN, so that
// text from an agent cannot end the line, hide in it or control a terminal.
void append_escaped(std::string& out, std::string_view bytes);

// A word of a squid line: every byte that could end the word or the line, or that RFC 1738 calls
// unsafe, becomes %NN. A `%` is kept, as in squid: escaped text is not escaped again.
void append_percent_escaped(std::string& out, std::string_view bytes);

// RFC 3339 with microseconds in UTC, "2026-11-16T09:00:00.000000Z". Caches the text of the last
// second, since the lines of one turn nearly all share it.
class TimeText {
 public:
  using Text = std::array<char, 27>;
  [[nodiscard]] Text operator()(std::int64_t unix_micros);

 private:
  std::int64_t second_ = -1;
  Text text_{};
};

}  // namespace stile::audit
