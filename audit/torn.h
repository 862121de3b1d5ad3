// Torn: what stands in a log behind its last whole line, after a write that was cut short.
#pragma once

#include <string_view>

#include "base/sha256.h"

namespace stile::audit {

// The daemon ends it with a newline and names it in an audit-gap, by the hash of its bytes without
// the last newline. It can span several lines: the audit-gap itself can be torn, too.
class Torn {
 public:
  // The last line is there, with this hash; only its newline is not.
  void set_unended_line(const HexHash& line);
  // Bytes that came after all that is known so far.
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
