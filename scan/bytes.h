// Bytes: memory for decoded text, which is not cleared first.
#pragma once

#include <cstddef>
#include <memory>

namespace stile::scan {

class Bytes {
 public:
  // Memory of at least that size. Larger memory than before does not have what was there.
  [[nodiscard]] char* make_room(std::size_t size) {
    if (size > size_) {
      memory_.reset(new char[size]);
      size_ = size;
    }
    return memory_.get();
  }

 private:
  std::unique_ptr<char[]> memory_;  // NOLINT(*-avoid-c-arrays)
  std::size_t size_ = 0;
};

// Functions that work on blocks may read or write so many bytes more than they return.
inline constexpr std::size_t slack = 96;

}  // namespace stile::scan
