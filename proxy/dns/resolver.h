// Resolver: names to addresses for one worker: hosts file, cache, and one query in flight per name.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "acl/account.h"
#include "base/random.h"
#include "proxy/base/event.h"
#include "proxy/base/loop.h"
#include "proxy/base/seeded_hash.h"
#include "proxy/dns/cache.h"
#include "proxy/dns/channel.h"
#include "proxy/dns/channel_pool.h"
#include "proxy/dns/hosts_file.h"

namespace stile::dns {

// Input for the worker's resolver from the main thread, which reads the files.
struct Environment {
  std::string servers;  // for Channel::Options
  std::shared_ptr<const Hosts> hosts = std::make_shared<Hosts>();
};

struct ResolverOptions {
  std::chrono::milliseconds timeout{2000};
  std::chrono::seconds max_ttl{300};
  std::size_t cache_entries = 65536;
  std::uint32_t in_flight_per_agent = 64;
};

struct Counters {
  std::uint64_t cache_hits = 0, cache_misses = 0;
  std::uint64_t answered = 0, no_name = 0, failed = 0, timed_out = 0;
};

class Resolver {
 public:
  Resolver(Loop& loop, const ResolverOptions& options, const Environment& environment);
  ~Resolver();

  // A request that waits for a name. Destroying it cancels the wait; the query itself goes on.
  class Waiter {
   public:
    explicit Waiter(Loop& loop) : event{loop} {}
    ~Waiter();
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;
    Event event;
    ResolvedPtr result;  // set when the lookup fires the event

   private:
    friend class Resolver;
    struct Lookup* lookup_ = nullptr;
  };

  // Null: not known, call ask().
  [[nodiscard]] ResolvedPtr known(std::string_view name);
  // False: this agent has too many names in flight.
  [[nodiscard]] bool ask(std::string_view name, std::shared_ptr<acl::Account> account,
                         Waiter& waiter);

  // The channels to the servers.
  struct Channels {
    std::unique_ptr<ChannelPool> udp;
    std::unique_ptr<DnsChannel> tcp;
  };
  // From any thread. Both are null on failure.
  [[nodiscard]] Channels open_channels(const ResolverOptions& options,
                                       const Environment& environment) const;
  // Sets new servers, a new hosts file or new bounds. Pending queries are sent again to the new
  // servers.
  void change(const ResolverOptions& options, const Environment& environment, Channels channels);
  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }

 private:
  friend struct Lookup;
  void send(struct Lookup& lookup, Rtype type, bool over_tcp);
  void on_packet(const std::string& name, std::uint64_t id, Rtype type, const std::string& asked,
                 bool over_tcp, std::span<const std::uint8_t> packet);
  void finish(struct Lookup& lookup);
  [[nodiscard]] ResolvedPtr gather(const struct Lookup& lookup);
  [[nodiscard]] std::string with_random_case(std::string_view name);

  Loop& loop_;
  ResolverOptions options_;
  Environment environment_;
  Counters counters_;
  Cache cache_;
  std::uint64_t next_id_ = 1;
  std::unordered_map<std::string, std::unique_ptr<struct Lookup>, SeededHash> lookups_;
  Channels channels_;
  Random random_;
};

}  // namespace stile::dns
