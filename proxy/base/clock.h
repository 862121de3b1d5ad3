// The clock for deadlines.
#pragma once

#include <chrono>

namespace stile {

using SteadyTime = std::chrono::steady_clock::time_point;

// The clock that a Loop uses for deadlines and shares. Tests and fuzzers pass their own.
class Clock {
 public:
  [[nodiscard]] virtual SteadyTime now() const noexcept = 0;

 protected:
  ~Clock() = default;
};

[[nodiscard]] const Clock& steady_clock() noexcept;

}  // namespace stile
