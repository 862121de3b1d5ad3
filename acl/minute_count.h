// MinuteCount: how many requests there were in the last minute, whenever that began.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "base/unix_time.h"

namespace stile::acl {

// Counts in slots of five seconds and adds up the last thirteen, so that no 60 seconds have more
// than the limit: a request is forgotten after 60 to 65 seconds. Shared by all workers. The time is
// that of the wall, so that it can be saved.
class MinuteCount {
 public:
  static constexpr std::int64_t slot_seconds = 5;
  static constexpr std::size_t slots = 60 / slot_seconds + 1;
  static constexpr std::int64_t most_seconds = slot_seconds * slots;

  // Counts one more if fewer than `most` are counted.
  [[nodiscard]] bool take(UnixMicros now, std::uint64_t most) noexcept;
  // Undoes a count.
  void give_back(UnixMicros taken) noexcept;
  [[nodiscard]] std::uint64_t used(UnixMicros now) const noexcept;
  // Until the oldest request is forgotten, rounded up.
  [[nodiscard]] std::int64_t seconds_left(UnixMicros now) const noexcept;

  // For the state file, as if all requests were in the last slot.
  struct Saved {
    std::uint64_t start = 0, count = 0;  // in seconds
  };
  [[nodiscard]] Saved saved() const noexcept;
  void restore(const Saved& saved) noexcept;
  // Forgets all requests, which `add` brings back.
  Saved clear() noexcept;
  void add(const Saved& saved) noexcept;

 private:
  struct Slots {
    std::int64_t last = 0;                     // number of the slot at [0]
    std::array<std::uint64_t, slots> count{};  // by age

    [[nodiscard]] std::uint64_t sum() const noexcept;
    // If the clock was set back, the counts stay as old as they were.
    void move_to(std::int64_t slot) noexcept;
  };
  [[nodiscard]] Slots at(UnixMicros now) const noexcept;
  [[nodiscard]] Saved all() const noexcept;  // locked

  mutable std::mutex mutex_;
  Slots slots_;
};

}  // namespace stile::acl
