// Context: what the sessions of one worker share. One thread, so no locks.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "acl/policy.h"
#include "acl/snapshot_holder.h"
#include "proxy/base/loop.h"
#include "proxy/dns/name_book.h"
#include "proxy/dns/resolver.h"
#include "proxy/intercept/interceptor.h"
#include "proxy/metrics/tally.h"
#include "proxy/net/relay.h"
#include "proxy/session/ask_board.h"
#include "proxy/session/asking.h"
#include "proxy/session/audit_queue.h"
#include "proxy/session/live.h"
#include "proxy/session/origin_pool.h"
#include "proxy/session/refusal.h"
#include "proxy/session/refusal_log.h"
#include "proxy/session/request_log.h"

namespace stile::session {

struct Limits {
  std::uint32_t connections = 65536;
  std::uint32_t connections_of_unknown = 1024;  // for all sources that belong to no agent, together
  std::uint32_t requests_of_unknown = 1000;
  std::size_t header_bytes = 65536;
  std::chrono::milliseconds header_timeout{10000};
  std::chrono::milliseconds client_hello_timeout{10000};
  std::chrono::milliseconds connect_timeout{10000};
  std::chrono::milliseconds ask_hold{10000};
  std::chrono::milliseconds idle_timeout{3600000};
};

// Shared by all workers.
class Shared {
 public:
  Shared(std::shared_ptr<const acl::Snapshot> first, const acl::Prefix& capture_subnet)
      : policy{std::move(first)}, names{capture_subnet} {}
  acl::SnapshotHolder policy;
  dns::NameBook names;  // of captured connections
  std::atomic<std::uint32_t> connections{0};
  std::atomic<bool> draining{false};
  // Another process serves from now on: what is under way here is served to its end.
  std::atomic<bool> leaving{false};
  std::shared_ptr<acl::Account> unknown = std::make_shared<acl::Account>();
  RefusalLog refusals;
  // Both are set before the first worker starts.
  GrantedBy granted_by = GrantedBy::command;
  AskBoard* asks = nullptr;  // null: no person is asked, and what no rule names is refused

  // What opens tunnels; null: nothing can, and tunnels that should be opened are refused.
  [[nodiscard]] std::shared_ptr<const intercept::Interceptor> interceptor() const {
    const std::lock_guard lock{interceptor_mutex_};
    return interceptor_;
  }
  void set_interceptor(std::shared_ptr<const intercept::Interceptor> next) {
    const std::lock_guard lock{interceptor_mutex_};
    trust_.store(next->trust(), std::memory_order_relaxed);
    interceptor_.swap(next);
  }
  // The roots that origins are verified by now; another number after each change.
  [[nodiscard]] std::uint64_t trust() const noexcept {
    return trust_.load(std::memory_order_relaxed);
  }

 private:
  mutable std::mutex interceptor_mutex_;
  std::shared_ptr<const intercept::Interceptor> interceptor_;
  std::atomic<std::uint64_t> trust_{0};
};

// Received bytes are gathered in strings; a string that has grown is reused for later connections.
class SpareBuffers {
 public:
  SpareBuffers() { spare_.reserve(most_kept); }
  [[nodiscard]] std::string take() noexcept {
    if (spare_.empty()) return {};
    std::string buffer = std::move(spare_.back());
    spare_.pop_back();
    return buffer;
  }
  void give_back(std::string buffer) noexcept {
    const bool has_grown = buffer.capacity() >= sizeof(std::string);
    if (!has_grown || buffer.capacity() > most_bytes || spare_.size() >= most_kept) return;
    buffer.clear();
    spare_.push_back(std::move(buffer));
  }

 private:
  static constexpr std::size_t most_bytes = 4096, most_kept = 256;
  std::vector<std::string> spare_;
};

struct Context {
  Context(Loop& event_loop, Shared& all, audit::Log& audit_log,
          const dns::ResolverOptions& dns_options, const dns::Environment& dns_environment,
          const Limits& first_limits, std::shared_ptr<const acl::PrefixMap> own)
      : loop{event_loop},
        shared{all},
        policy{all.policy},
        audit{event_loop, audit_log},
        log{audit, all.refusals, event_loop},
        resolver{event_loop, dns_options, dns_environment},
        relay{event_loop, {}, {}},
        limits{first_limits},
        own_addresses{std::move(own)},
        origins{*this} {}

  // The counters of an agent on this worker; "-" if there is no agent.
  [[nodiscard]] const std::shared_ptr<metrics::Tally>& tally(const std::string& agent);

  Loop& loop;
  Shared& shared;
  acl::SnapshotReader policy;
  AuditQueue audit;
  RequestLog log;
  dns::Resolver resolver;
  net::RelayResources relay;
  SpareBuffers buffers;
  Limits limits;
  std::shared_ptr<const acl::PrefixMap> own_addresses;
  LiveList live;
  intercept::Leaves leaves;
  intercept::OriginSessions origin_sessions;
  AskingList asking;       // requests that wait for a person
  net::PausedList paused;  // requests that wait for more of a budget or grant
  metrics::ConnectTimes connect_times;
  std::unordered_map<std::string, std::shared_ptr<metrics::Tally>> tallies;
  OriginPool origins;
  std::uint64_t next_conn = 1, conn_step = 1;  // workers take turns, so numbers are unique
};

}  // namespace stile::session
