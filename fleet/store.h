// Store: what stile-fleet and `stile fleet` do with an etcd cluster, over one connection.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/settings.h"
#include "fleet/connection.h"
#include "fleet/gateway.h"

namespace stile::fleet {

// How to reach the cluster: read once from the files that [fleet] names.
struct Cluster {
  config::FleetSettings settings;
  boost::asio::ssl::context tls;
  std::string password;

  [[nodiscard]] static Result<Cluster> open(config::FleetSettings settings);
  // The key of an object: "policy/base" to "/stile/policy/base".
  [[nodiscard]] std::string key(std::string_view name) const;
};

class Store {
 public:
  // `cluster` outlives it. `endpoint` is an index of its endpoints.
  Store(boost::asio::io_context& context, Cluster& cluster, std::size_t endpoint);

  // Connects, and logs in if there is a user.
  [[nodiscard]] boost::asio::awaitable<Result<void>> open();

  struct Page {
    std::int64_t revision = 0;
    std::vector<Pair> pairs;  // the key without the prefix of the cluster
    bool has_more = false;
  };
  // The names that begin with `below`, from `from` on; with `is_single`, that name alone.
  struct Wanted {
    std::string below, from;
    bool is_single = false;
    std::int64_t revision = 0;  // 0: now
    bool keys_only = false;
  };
  [[nodiscard]] boost::asio::awaitable<Result<Page>> read(Wanted wanted);
  // All pages, of one moment; more than `max_pairs` is an error. `sieve` takes out of each page
  // what is not to be kept; it outlives the call.
  using Sieve = std::function<void(std::vector<Pair>&)>;
  [[nodiscard]] boost::asio::awaitable<Result<Page>> read_all(Wanted wanted, std::size_t max_pairs,
                                                              const Sieve* sieve = nullptr);
  [[nodiscard]] boost::asio::awaitable<Result<void>> put(std::string name, std::string value,
                                                         std::int64_t lease);
  // False: the key has changed since `mod_revision`, and nothing was written.
  [[nodiscard]] boost::asio::awaitable<Result<bool>> replace(std::string name, std::string value,
                                                             std::int64_t mod_revision);
  [[nodiscard]] boost::asio::awaitable<Result<std::int64_t>> grant_lease(std::int64_t seconds);
  // False: it is gone.
  [[nodiscard]] boost::asio::awaitable<Result<bool>> keep_lease(std::int64_t lease);
  // After this, only next_changes() works on this store.
  [[nodiscard]] boost::asio::awaitable<Result<void>> watch(std::vector<std::string> names_below,
                                                           std::int64_t revision);
  [[nodiscard]] boost::asio::awaitable<Result<Watched>> next_changes();
  void close() { connection_.close(); }

 private:
  [[nodiscard]] bool strip(std::vector<Pair>& pairs) const;

  Cluster& cluster_;
  StoreConnection connection_;
};

}  // namespace stile::fleet
