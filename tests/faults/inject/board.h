// Board: shared memory in which a test says which calls of the daemon are to fail, and how often.
//
// The file is named by STILE_FAULTS and mapped before the daemon confines itself. The layout is
// read and written by tests/faults/faults.py, too: the two change together.
#pragma once

#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace stile::faults {

enum class Call : std::uint32_t {
  accept,
  connect,
  socket,
  pipe,
  recv,
  send,
  splice,
  epoll_wait,
  epoll_add,
  open,
  read,
  write,
  fsync,
  rename,
  allocate,
};
inline constexpr std::size_t call_count = 15;

struct Rule {
  std::atomic<std::uint32_t> per_million;  // 0: the call is left alone
  std::uint32_t threads;                   // one of Threads
  std::uint32_t outcomes;                  // how many of `outcome` there are
  std::uint32_t delay_ms;                  // waits that long first
  std::uint32_t most;                      // so many times at most; 0: no bound
  std::uint32_t unused;
  std::int32_t outcome[12];             // an errno, or one of the two below
  std::atomic<std::uint64_t> seen;      // calls while the rule was on
  std::atomic<std::uint64_t> injected;  // of them, those that were told to fail
};
inline constexpr std::int32_t goes_on = 0, short_count = -1;

enum Threads : std::uint32_t { all_threads, only_workers };

// A thread other than the main one that waits for events is a worker.
void note_wait_for_events() noexcept;

struct Board {
  std::uint64_t seed;
  std::atomic<std::int64_t> clock_offset_ns;  // of the wall clock alone
  Rule rules[call_count];
};
static_assert(sizeof(Rule) == 88 && sizeof(Board) == 16 + 88 * call_count);

// Null: nothing is to fail.
[[nodiscard]] Board* board() noexcept;

// What this call is to come to; nothing: let it be what it is. Which calls are hit depends on the
// seed and on their number alone. Waits here if the rule says so.
[[nodiscard]] std::optional<int> outcome_of(Call call) noexcept;

// Sets errno and returns true if the call is to fail. For calls that know no short counts.
[[nodiscard]] bool fails(Call call) noexcept;

// The function that this library stands in front of.
template <class Function>
[[nodiscard]] Function* real(const char* name) noexcept {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace stile::faults
