// wipe: overwrites a text that contained a secret, with all that its memory held before.
#pragma once

#include <cstring>
#include <string>

namespace stile {

inline void wipe(std::string& text) {
  text.resize(text.capacity());
  ::explicit_bzero(text.data(), text.size());
  text.clear();
}

// A text that is wiped at its end.
struct WipedText {
  WipedText() = default;
  WipedText(const WipedText&) = delete;
  WipedText& operator=(const WipedText&) = delete;
  ~WipedText() { wipe(text); }
  std::string text;
};

}  // namespace stile
