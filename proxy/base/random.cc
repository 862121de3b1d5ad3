// Random: numbers that nobody can predict.
#include "proxy/base/random.h"

#include <sys/random.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace stile {

std::uint64_t Random::next() {
  if (left_ == 0) {
    // Up to 256 bytes come whole, without interruption.
    static_assert(sizeof pool_ <= 256);
    if (::getrandom(pool_.data(), sizeof pool_, 0) != static_cast<ssize_t>(sizeof pool_)) {
      throw std::system_error{errno, std::generic_category(), "getrandom"};
    }
    left_ = pool_.size();
  }
  return std::exchange(pool_[--left_], 0);  // what was given out is not found in memory later
}

}  // namespace stile
