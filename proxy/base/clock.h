// The wall clock, in the unit that policy and audit log use.
#pragma once

#include <chrono>
#include <cstdint>

namespace stile {

[[nodiscard]] inline std::int64_t unix_micros() noexcept {
  using namespace std::chrono;
  return duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
}

}  // namespace stile
