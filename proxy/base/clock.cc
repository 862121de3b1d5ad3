// Clocks: the one of deadlines, from the system.
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
