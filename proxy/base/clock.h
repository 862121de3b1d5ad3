// Clocks: the wall clock in the unit of policy and audit log, and the clock for deadlines.
#pragma once

#include <chrono>
#include <cstdint>

namespace stile {

using SteadyTime = std::chrono::steady_clock::time_point;

[[nodiscard]] inline std::int64_t unix_micros() noexcept {
  using namespace std::chrono;
  return duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
}

// The clock that a Loop uses for deadlines and shares. Tests and fuzzers pass their own.
class Clock {
 public:
  [[nodiscard]] virtual SteadyTime now() const noexcept = 0;

 protected:
  ~Clock() = default;
};

[[nodiscard]] const Clock& steady_clock() noexcept;

}  // namespace stile
