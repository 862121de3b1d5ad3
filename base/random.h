// Random: unpredictable numbers from getrandom(2), read a few hundred bytes at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace stile {

// Not thread-safe. Throws std::system_error if the kernel returns none: no query is sent then.
class Random {
 public:
  [[nodiscard]] std::uint64_t next();

 private:
  std::array<std::uint64_t, 32> pool_;
  std::size_t left_ = 0;
};

// So many bytes as lower-case hex digits, for names that must not repeat or be guessed.
[[nodiscard]] std::string random_hex(std::size_t bytes);

}  // namespace stile
