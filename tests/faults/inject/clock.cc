// The wall clock jumps when the board says so; the steady one never does.
#include <sys/time.h>

#include <ctime>

#include "tests/faults/inject/board.h"

namespace {

constexpr std::int64_t billion = 1'000'000'000;

std::int64_t offset_ns() {
  const auto* board = stile::faults::board();
  return board == nullptr ? 0 : board->clock_offset_ns.load(std::memory_order_relaxed);
}

void shift(timespec& time) {
  const std::int64_t sum = time.tv_sec * billion + time.tv_nsec + offset_ns();
  time = {sum / billion, sum % billion};
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static auto* const next = stile::faults::real<int(clockid_t, timespec*)>("clock_gettime");
  const int result = next(clock, time);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) shift(*time);
  return result;
}

int gettimeofday(timeval* time, void* zone) noexcept {
  timespec now{};
  const int result = ::clock_gettime(CLOCK_REALTIME, &now);
  if (result == 0) *time = {now.tv_sec, now.tv_nsec / 1000};
  static_cast<void>(zone);
  return result;
}

time_t time(time_t* where) noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  if (where != nullptr) *where = now.tv_sec;
  return now.tv_sec;
}
}
