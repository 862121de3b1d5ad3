// Account: what an agent uses up, counted over all workers.
#pragma once

#include <atomic>
#include <cstdint>

#include "acl/allowance.h"

namespace stile::acl {

// One per (id, instance); lives as long as the agent or a connection of it.
struct Account {
  std::atomic<std::uint32_t> connections{0};
  std::atomic<std::uint32_t> dns_in_flight{0};
  std::atomic<std::int64_t> next_request_ns{0};  // for the rate limit: when the next one is due
  // Connections refused at accept that no audit line has told of, and when the next line is due.
  std::atomic<std::uint64_t> refusals_untold{0};
  std::atomic<std::int64_t> next_refusal_line_ns{0};
  Allowance bytes_up, bytes_down;
};

}  // namespace stile::acl
