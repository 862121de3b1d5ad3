// FreeBy: the deleter of a std::unique_ptr for objects of C libraries.
#pragma once

namespace stile {

template <auto Free>
struct FreeBy {
  template <class T>
  void operator()(T* object) const noexcept {
    static_cast<void>(Free(object));
  }
};

}  // namespace stile
