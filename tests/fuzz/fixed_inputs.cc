// Random numbers and the time of day, the same in each run of a fuzzer, so that a fixed count of
// executions is the same executions each time. libFuzzer itself has the real time: it ends by it,
// and finds out that an input takes too long.
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>

namespace {

bool is_executing = false;

}  // namespace

// The linker lets libFuzzer call the second one, and resolves the first one to the fuzzer's.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" int __real_LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int __wrap_LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  is_executing = true;
  const int result = __real_LLVMFuzzerTestOneInput(data, size);
  is_executing = false;
  return result;
}
// NOLINTEND(bugprone-reserved-identifier)

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
  if (!is_executing) {
    timespec real{};
    ::clock_gettime(CLOCK_REALTIME, &real);
    return time_point{std::chrono::seconds{real.tv_sec} + std::chrono::nanoseconds{real.tv_nsec}};
  }
  static auto now = time_point{std::chrono::seconds{1800000000}};
  return now += std::chrono::microseconds{20};
}
