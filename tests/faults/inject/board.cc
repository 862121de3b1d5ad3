// Board: mapped when the daemon is loaded, consulted at each call.
#include "tests/faults/inject/board.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace stile::faults {
namespace {

Board* the_board = nullptr;
pthread_t main_thread;
// In the static block: the other kinds may ask for memory when they are first looked at.
thread_local bool is_worker __attribute__((tls_model("initial-exec"))) = false;

__attribute__((constructor)) void attach() {
  main_thread = ::pthread_self();
  const char* path = std::getenv("STILE_FAULTS");
  if (path == nullptr) return;
  const int fd = ::open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) std::abort();  // a test that injects nothing would prove nothing
  void* mapped = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  if (mapped == MAP_FAILED) std::abort();
  the_board = static_cast<Board*>(mapped);
}

// splitmix64: the same number for the same call of the same run.
std::uint64_t scrambled(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

void note_wait_for_events() noexcept {
  is_worker = ::pthread_equal(::pthread_self(), main_thread) == 0;
}

Board* board() noexcept { return the_board; }

std::optional<int> outcome_of(Call call) noexcept {
  if (the_board == nullptr) return {};
  Rule& rule = the_board->rules[static_cast<std::size_t>(call)];
  const std::uint32_t per_million = rule.per_million.load(std::memory_order_acquire);
  if (per_million == 0 || (rule.threads == only_workers && !is_worker)) return {};
  const std::uint64_t number = rule.seen.fetch_add(1) * call_count + static_cast<unsigned>(call);
  const std::uint64_t draw = scrambled(the_board->seed + number);
  if (draw % 1000000 >= per_million) return {};
  if (rule.injected.fetch_add(1) >= rule.most && rule.most != 0) {
    rule.injected.fetch_sub(1);
    return {};
  }
  if (rule.delay_ms > 0) ::poll(nullptr, 0, static_cast<int>(rule.delay_ms));
  return rule.outcome[(draw >> 32) % rule.outcomes];
}

bool fails(Call call) noexcept {
  const auto outcome = outcome_of(call);
  if (!outcome || *outcome <= 0) return false;
  errno = *outcome;
  return true;
}

}  // namespace stile::faults
