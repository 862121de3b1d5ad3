// Random numbers and the time of day, the same in each run of a fuzzer, so that a fixed count of
// executions is the same executions each time. libFuzzer has a C++ library of its own, and with it
// the real time.
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>

// Takes the place of libc's for this program and its libraries.
extern "C" ssize_t getrandom(void* data, std::size_t size, unsigned /*flags*/) {
  static std::uint64_t state = 1;
  auto* bytes = static_cast<unsigned char*>(data);
  for (std::size_t i = 0; i < size; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;  // Knuth's MMIX
    bytes[i] = static_cast<unsigned char>(state >> 56U);
  }
  return static_cast<ssize_t>(size);
}

// The same for libstdc++'s.
std::chrono::system_clock::time_point std::chrono::system_clock::now() noexcept {
  static auto now = time_point{std::chrono::seconds{1800000000}};
  return now += std::chrono::microseconds{20};
}
