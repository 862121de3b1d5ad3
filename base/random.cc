// Random: unpredictable numbers.
#include "base/random.h"

#include <sys/random.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/ascii.h"

namespace stile {

std::uint64_t Random::next() {
  if (left_ == 0) {
    // getrandom(2) returns up to 256 bytes whole, without interruption.
    static_assert(sizeof pool_ <= 256);
    if (::getrandom(pool_.data(), sizeof pool_, 0) != static_cast<ssize_t>(sizeof pool_)) {
      throw std::system_error{errno, std::generic_category(), "getrandom"};
    }
    left_ = pool_.size();
  }
  return std::exchange(pool_[--left_], 0);  // used numbers do not stay in memory
}

std::string random_hex(std::size_t bytes) {
  Random random;
  std::string text;
  while (text.size() < 2 * bytes) append_hex(text, static_cast<unsigned char>(random.next()));
  return text;
}

}  // namespace stile
