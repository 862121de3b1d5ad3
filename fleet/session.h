// StoreSession: this host's membership in the fleet: reads everything, follows changes, keeps its
// own entry alive, and begins again at the next endpoint when one fails.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <string>
#include <thread>

#include "fleet/applier.h"
#include "fleet/daemon_link.h"
#include "fleet/store.h"

namespace stile::fleet {

class StoreSession {
 public:
  StoreSession(boost::asio::io_context& context, Cluster cluster, Applier& applier,
               const DaemonLink& daemon);

  // Until stop().
  ~StoreSession();
  StoreSession(const StoreSession&) = delete;
  StoreSession& operator=(const StoreSession&) = delete;

  [[nodiscard]] boost::asio::awaitable<void> run();
  void stop();

 private:
  // One stay at one endpoint.
  struct Stay {
    Store calls, changes;
    std::int64_t lease = 0, revision = 0;  // revision: of the store, up to which all is known
    std::int64_t missed = 0;               // a later one that the watch has not brought yet
    std::chrono::steady_clock::time_point checked = std::chrono::steady_clock::now();
    std::string url;
    std::string entry;                           // as it was written
    std::map<std::string, std::string> results;  // of trials, to be written
    std::string end;                             // why it ended
    bool is_heartbeat_over = true, is_beat_due = false;
    boost::asio::steady_timer beat, over;
    Stay(boost::asio::io_context& context, Cluster& cluster, std::size_t endpoint)
        : calls{context, cluster, endpoint},
          changes{context, cluster, endpoint},
          beat{context},
          over{context} {}
    void end_with(const std::string& why);
  };

  // Why it ended; `revision` of the stay is not 0 if everything was read.
  [[nodiscard]] boost::asio::awaitable<Result<void>> stay(Stay& stay);
  [[nodiscard]] boost::asio::awaitable<Result<void>> read_objects(Stay& stay);
  [[nodiscard]] boost::asio::awaitable<Result<void>> follow(Stay& stay);
  [[nodiscard]] boost::asio::awaitable<void> heartbeat(Stay& stay);
  [[nodiscard]] boost::asio::awaitable<Result<void>> beat(Stay& stay);
  [[nodiscard]] boost::asio::awaitable<Result<void>> write_entry(Stay& stay);
  [[nodiscard]] boost::asio::awaitable<Result<void>> check_watch(Stay& stay);
  void start_trial(std::string id, const config::FleetState& state);
  [[nodiscard]] boost::asio::awaitable<Result<void>> write_results(Stay& stay);
  [[nodiscard]] boost::asio::awaitable<Result<void>> take_slices(Stay& stay);
  [[nodiscard]] boost::asio::awaitable<Result<void>> take_slice(Stay& stay, std::string agent,
                                                                std::uint64_t total);

  boost::asio::io_context& context_;
  Cluster cluster_;
  Applier& applier_;
  const DaemonLink& daemon_;
  boost::asio::steady_timer pause_;
  std::thread trial_;  // one at a time: a replay of a long log must not delay the switch
  bool is_trying_ = false;
  Stay* current_ = nullptr;
  bool is_stopping_ = false, is_connected_ = false;
};

// The value of hosts/HOST.
[[nodiscard]] std::string host_entry(const Applier& applier, const DaemonLink::Overview& daemon);

}  // namespace stile::fleet
