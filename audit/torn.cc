// Torn: a running hash, with the last newline held back.
#include "audit/torn.h"

namespace stile::audit {

void Torn::set_unended_line(const HexHash& line) {
  kind_ = Kind::unended_line;
  needs_newline_ = true;
  line_ = line;
}

void Torn::add(std::string_view bytes) {
  if (bytes.empty()) return;
  if (kind_ == Kind::unended_line) {
    // The line has its newline now (or its file has ended), so it is complete.
    if (needs_newline_) bytes.remove_prefix(1);
    clear();
    if (bytes.empty()) return;
  }
  if (kind_ == Kind::none) {
    fragment_.reset();
  } else if (!needs_newline_) {
    fragment_.update("\n");
  }
  kind_ = Kind::fragment;
  needs_newline_ = bytes.back() != '\n';
  if (!needs_newline_) bytes.remove_suffix(1);
  fragment_.update(bytes);
}

void Torn::clear() noexcept {
  kind_ = Kind::none;
  needs_newline_ = false;
}

HexHash Torn::hash() const { return kind_ == Kind::unended_line ? line_ : fragment_.hex(); }

}  // namespace stile::audit
