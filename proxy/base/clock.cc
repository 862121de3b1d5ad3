// Clocks: the system's clock for deadlines.
#include "proxy/base/clock.h"

namespace stile {

const Clock& steady_clock() noexcept {
  static const struct Steady final : Clock {
    [[nodiscard]] SteadyTime now() const noexcept override {
      return std::chrono::steady_clock::now();
    }
  } clock;
  return clock;
}

}  // namespace stile
