// Account: what an agent uses up, counted over all workers.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>

#include "acl/allowance.h"
#include "acl/decision.h"

namespace stile::acl {

// One per (id, instance); lives as long as the agent or a connection of it.
struct Account {
  std::atomic<std::uint32_t> connections{0};
  std::atomic<std::uint32_t> dns_in_flight{0};
  std::atomic<std::int64_t> next_request_ns{0};  // for the rate limit: when the next one is due
  // The bound on audit lines of refusals: when the next line is due, and by reason how many
  // refusals were counted that no line has told of yet.
  std::atomic<std::int64_t> next_refusal_line_ns{std::numeric_limits<std::int64_t>::min()};
  std::array<std::atomic<std::uint64_t>, reason_count> refusals_counted{};
  std::atomic<bool> has_refusals_counted{false};
  Allowance bytes_up, bytes_down;
};

}  // namespace stile::acl
