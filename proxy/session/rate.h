// The rate limit of an agent, over all workers: when may its next request be processed?
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "acl/account.h"

namespace stile::session {

// Requests are due at equal intervals; an agent may be ahead of its schedule by one second's worth.
// Returns how long this request must wait (0: not at all). Nothing is refused: the socket is only
// read later.
[[nodiscard]] inline std::chrono::nanoseconds reserve_request(
    acl::Account& account, std::uint32_t per_second,
    std::chrono::steady_clock::time_point now) noexcept {
  if (per_second == 0) return {};
  const std::int64_t step = 1'000'000'000 / per_second;
  const std::int64_t time = now.time_since_epoch().count();
  std::int64_t due = account.next_request_ns.load(std::memory_order_relaxed);
  std::int64_t mine = 0;
  do {
    mine = std::max(due, time - 1'000'000'000);
  } while (
      !account.next_request_ns.compare_exchange_weak(due, mine + step, std::memory_order_relaxed));
  return std::chrono::nanoseconds{std::max<std::int64_t>(0, mine - time)};
}

}  // namespace stile::session
