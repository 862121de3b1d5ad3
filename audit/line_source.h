// LineSource: the lines of a file of any size, one by one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stile::audit {

class LineSource {
 public:
  // "-" is standard input.
  static Result<LineSource> open(const std::string& path);
  // `name` is for messages.
  LineSource(UniqueFd fd, std::string name);

  // Moves to the next line; false at the end of the file or after an error.
  bool next();
  // Without its newline; valid until next(). A line above max_line_bytes is returned in pieces. The
  // first piece is one byte longer than any audit line can be.
  [[nodiscard]] std::string_view line() const noexcept { return line_; }
  [[nodiscard]] bool has_newline() const noexcept { return has_newline_; }
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }     // from 1
  [[nodiscard]] const std::string& error() const noexcept { return error_; }  // empty: none

 private:
  bool fill();

  UniqueFd fd_;
  std::string name_;
  std::string buffer_;
  std::size_t begin_ = 0, end_ = 0;  // unread bytes in the buffer
  std::string_view line_;
  bool has_newline_ = true;  // as if after a line 0
  std::uint64_t number_ = 0;
  std::string error_;
};

}  // namespace stile::audit
