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

}  // namespace stile
