// MinuteCount: a ring of slots that is moved on when it is looked at.
#include "acl/minute_count.h"

#include <algorithm>
#include <numeric>

namespace stile::acl {
namespace {

constexpr std::int64_t micros = 1'000'000;
constexpr std::int64_t last_second = 0xffffffff;

std::int64_t second_of(UnixMicros time) noexcept {
  return std::clamp<std::int64_t>(time / micros, 0, last_second);
}

std::int64_t slot_of(UnixMicros time) noexcept {
  return second_of(time) / MinuteCount::slot_seconds;
}

}  // namespace

std::uint64_t MinuteCount::Slots::sum() const noexcept {
  return std::accumulate(count.begin(), count.end(), std::uint64_t{0});
}

void MinuteCount::Slots::move_to(std::int64_t slot) noexcept {
  const auto passed = std::clamp<std::int64_t>(slot - last, 0, slots);
  last = slot;
  std::shift_right(count.begin(), count.end(), passed);
  std::fill_n(count.begin(), passed, 0);
}

MinuteCount::Slots MinuteCount::at(UnixMicros now) const noexcept {
  Slots moved;
  {
    const std::lock_guard lock{mutex_};
    moved = slots_;
  }
  moved.move_to(slot_of(now));
  return moved;
}

bool MinuteCount::take(UnixMicros now, std::uint64_t most) noexcept {
  const std::lock_guard lock{mutex_};
  slots_.move_to(slot_of(now));
  if (slots_.sum() >= most) return false;
  ++slots_.count[0];
  return true;
}

void MinuteCount::give_back(UnixMicros taken) noexcept {
  const std::lock_guard lock{mutex_};
  const std::int64_t age = slots_.last - slot_of(taken);
  if (age < 0 || age >= static_cast<std::int64_t>(slots)) return;
  std::uint64_t& count = slots_.count[static_cast<std::size_t>(age)];
  if (count > 0) --count;
}

std::uint64_t MinuteCount::used(UnixMicros now) const noexcept { return at(now).sum(); }

std::int64_t MinuteCount::seconds_left(UnixMicros now) const noexcept {
  const Slots moved = at(now);
  std::int64_t oldest = 0;
  for (std::size_t age = 0; age < slots; ++age) {
    if (moved.count[age] > 0) oldest = static_cast<std::int64_t>(age);
  }
  const std::int64_t forgotten = (moved.last - oldest) * slot_seconds + most_seconds;
  return std::clamp<std::int64_t>(forgotten - second_of(now), 1, most_seconds);
}

MinuteCount::Saved MinuteCount::all() const noexcept {
  return {static_cast<std::uint64_t>(slots_.last * slot_seconds), slots_.sum()};
}

MinuteCount::Saved MinuteCount::saved() const noexcept {
  const std::lock_guard lock{mutex_};
  return all();
}

void MinuteCount::restore(const Saved& saved) noexcept {
  clear();
  add(saved);
}

MinuteCount::Saved MinuteCount::clear() noexcept {
  const std::lock_guard lock{mutex_};
  const Saved forgotten = all();
  slots_ = {};
  return forgotten;
}

void MinuteCount::add(const Saved& saved) noexcept {
  const std::lock_guard lock{mutex_};
  const auto slot =
      static_cast<std::int64_t>(std::min<std::uint64_t>(saved.start, last_second)) / slot_seconds;
  slots_.move_to(std::max(slots_.last, slot));
  slots_.count[0] += saved.count;
}

}  // namespace stile::acl
