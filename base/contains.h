// contains: whether a value is in a list.
#pragma once

#include <algorithm>

namespace stile {

template <class List, class Value>
[[nodiscard]] constexpr bool contains(const List& list, const Value& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace stile
