// Views: what the commands answer, as plain structs. answers.h writes them as JSON.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/live_policy.h"
#include "control/policy_editor.h"
#include "proxy/session/report.h"

namespace stile::commands {

// The request was done, and there is nothing to tell.
struct Done {};

// The request was done, and one value names what it changed.
struct Named {
  std::string_view key, value;
};

// The counters of one agent over all workers.
struct Totals {
  std::uint64_t allowed = 0, denied = 0, would_deny = 0;
  std::uint64_t tunnels_open = 0, connections_refused = 0, bytes_up = 0, bytes_down = 0;
};
using TotalsByAgent = std::map<std::string, Totals>;
[[nodiscard]] TotalsByAgent sum_up(const std::vector<session::Report>& reports);

struct RejectedCardView {
  std::string file, agent, problem;
};

struct PingView {
  std::string_view version, program;
  std::chrono::steady_clock::duration uptime{};
  std::uint64_t generation = 0;
  std::string config;
  acl::Mode mode = acl::Mode::enforce;
  std::size_t workers = 0;
  std::optional<std::chrono::milliseconds> drain_time_left;  // nullopt: it is not draining
  std::optional<bool> is_capturing;  // nullopt: it does not serve the fence, or not in this way
  std::vector<RejectedCardView> rejected_cards;
  // The last checks of the agents' fences that were reported.
  struct Containment {
    std::size_t checked = 0, failed = 0;
    std::string problem;  // of the first agent that failed
  } containment;
};
// Only what the policy has.
[[nodiscard]] PingView view_ping(const control::LivePolicy& policy);

struct FleetView {
  bool is_connected = false;
  std::int64_t age_seconds = 0;  // since stile-fleet last heard from the store
  bool is_offline = false;
  std::map<std::string, std::uint64_t> serials;  // by object
  std::vector<config::FleetRefusal> refused;
};

struct StatusView {
  PingView ping;
  std::optional<FleetView> fleet;
  std::size_t agents = 0, grants = 0, asks = 0;
  std::uint32_t connections = 0;
  Totals totals;
  std::uint64_t audit_events = 0, audit_gaps = 0;
  std::string audit_problem;
};
// Only what the policy and the counters have.
[[nodiscard]] StatusView view_status(const control::LivePolicy& policy,
                                     const TotalsByAgent& totals);

struct GrantView {
  std::string id;
  std::vector<std::string> hosts;
  UnixMicros created = 0;  // 0: not known on this host, for it is one of the fleet
  std::optional<UnixMicros> expires;
  std::optional<std::int64_t> seconds_left;
  std::optional<std::uint64_t> max_requests, bytes_up;
  std::int64_t requests_left = 0, bytes_up_left = 0;  // if there is a limit
  std::string reason, actor;
};

struct BudgetView {
  std::uint64_t total = 0, used = 0;
  std::int64_t left = 0;
  // Of a fleet's budget: what this host may use so far, and whether its agent needs more.
  std::optional<std::uint64_t> slice = std::nullopt;
  bool is_waiting = false;
};

// One [[agent.budget]].
struct HostBudgetView {
  std::string host;
  std::optional<BudgetView> max_requests, requests_per_minute, tokens;
};

// What a check of an agent's fence found.
struct CheckView {
  UnixMicros time = 0;
  bool holds = false;
  std::string problem;
};

struct AgentView {
  std::string id, instance, entry;
  std::vector<std::string> sources;
  acl::Mode mode = acl::Mode::enforce;
  std::optional<UnixMicros> expires;
  std::optional<std::int64_t> seconds_left;
  std::uint32_t connections = 0;
  std::optional<BudgetView> bytes_up, bytes_down;
  std::vector<HostBudgetView> host_budgets;
  std::size_t rules = 0;
  std::vector<GrantView> grants;
  Totals totals;
  std::optional<CheckView> check;  // nullopt: none was reported
};
using AgentViews = std::vector<AgentView>;
[[nodiscard]] AgentViews view_agents(const control::LivePolicy& policy, TotalsByAgent totals,
                                     UnixMicros now);

// The rules of a list file may be a million; those beyond a bound are only counted.
struct RulesView {
  std::vector<std::string> patterns;
  std::size_t count = 0;
};

// One agent with its whole policy.
struct AgentDetailView {
  AgentView agent;
  RulesView allow, deny;
  std::vector<std::string> opened;  // the hosts whose TLS is opened
  std::vector<std::string> allow_files, allow_ip;
  std::vector<std::uint16_t> ports, http_ports;
  std::string sni, ech, unlisted;
  std::uint32_t connections_per_agent = 0, requests_per_second = 0;
  std::vector<std::string> revoked;
};
[[nodiscard]] AgentDetailView view_agent_detail(const control::LivePolicy& policy,
                                                const control::LivePolicy::Running& agent,
                                                const Totals& totals, UnixMicros now);

struct AllowView {
  std::string grant;  // empty: none was made
  std::vector<std::string> restored;
};

struct RevokeView {
  std::vector<std::string> ended, denied;
};

struct ReloadView {
  control::ReloadResult result;
  std::vector<RejectedCardView> rejected_cards;
};
[[nodiscard]] ReloadView view_reload(const control::LivePolicy& policy,
                                     control::ReloadResult result);

}  // namespace stile::commands
