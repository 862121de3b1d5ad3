// Random: unpredictable numbers from getrandom(2), read a few hundred bytes at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace stile {

// Not thread-safe. Throws std::system_error if the kernel returns none: no query is sent then.
class Random {
 public:
  [[nodiscard]] std::uint64_t next();

 private:
  std::array<std::uint64_t, 32> pool_;
  std::size_t left_ = 0;
};

}  // namespace stile
