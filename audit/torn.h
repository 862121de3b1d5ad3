// Torn: the bytes after the last whole line of a log, left by an incomplete write.
#pragma once

#include <string_view>

#include "base/sha256.h"

namespace stile::audit {

// The daemon ends them with a newline and writes an audit-gap with the hash of the bytes without
// the last newline. They can span several lines: the audit-gap itself can be torn, too.
class Torn {
 public:
  // The last line is complete, with this hash; only its newline is missing.
  void set_unended_line(const HexHash& line);
  // Adds the bytes that follow.
  void add(std::string_view bytes);
  // The next line goes to another file: no newline is needed there.
  void end_line() noexcept { needs_newline_ = false; }
  void clear() noexcept;

  [[nodiscard]] bool present() const noexcept { return kind_ != Kind::none; }
  [[nodiscard]] bool needs_newline() const noexcept { return needs_newline_; }
  [[nodiscard]] HexHash hash() const;

 private:
  enum class Kind : unsigned char { none, unended_line, fragment };
  Kind kind_ = Kind::none;
  bool needs_newline_ = false;
  HexHash line_ = zero_hash;  // of an unended line
  Sha256 fragment_;
};

}  // namespace stile::audit
