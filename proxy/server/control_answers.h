// Answers of the control socket: policies and counters as JSON text.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/live_policy.h"
#include "proxy/server/policy_desk.h"
#include "proxy/server/worker.h"

namespace stile::server {

// The counters of one agent over all workers.
struct Totals {
  std::uint64_t allowed = 0, denied = 0, would_deny = 0;
  std::uint64_t tunnels_open = 0, connections_refused = 0, bytes_up = 0, bytes_down = 0;
};
using TotalsByAgent = std::map<std::string, Totals>;
[[nodiscard]] TotalsByAgent sum_up(const std::vector<Report>& reports);

struct StatusHead {
  std::chrono::steady_clock::duration uptime{};
  std::size_t workers = 0;
  std::optional<std::chrono::milliseconds> drain_time_left;
};
struct StatusTail {
  std::uint32_t connections = 0;
  std::uint64_t audit_events = 0, audit_gaps = 0;
  std::string audit_problem;
};
// The members of an object, without its braces.
[[nodiscard]] std::string status_head(const control::LivePolicy& policy, const StatusHead& head);
[[nodiscard]] std::string status_totals(const control::LivePolicy& policy,
                                        const TotalsByAgent& totals, const StatusTail& tail);

[[nodiscard]] std::string agents_text(const control::LivePolicy& policy, TotalsByAgent totals,
                                      UnixMicros now);
[[nodiscard]] std::string agent_text(const control::LivePolicy& policy,
                                     const control::LivePolicy::Running& agent,
                                     const Totals& totals, UnixMicros now);
[[nodiscard]] std::string connections_text(
    const std::vector<std::vector<session::ConnectionInfo>>& parts);
[[nodiscard]] std::string reload_text(const control::LivePolicy& policy,
                                      const ReloadResult& result);
[[nodiscard]] std::string config_text(const WrittenConfig& config);
// {"ok":true,"KEY":"VALUE"}
[[nodiscard]] std::string answer_with(std::string_view key, std::string_view value);

}  // namespace stile::server
