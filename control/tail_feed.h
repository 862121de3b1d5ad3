// TailFeed: passes audit lines to watching clients as they are written. The log never waits for
// them.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "audit/log.h"
#include "control/connection.h"

namespace stile::control {

class TailFeed {
 public:
  explicit TailFeed(boost::asio::io_context& context) : context_{context}, timer_{context} {}

  void attach(audit::Log& log);
  void add(const ConnectionPtr& client, const ControlRequest& filter);
  void remove(Connection& client);
  // Passes on what was written before this call. By itself that happens after 20 ms at the latest.
  void deliver();
  // A line that is not an audit line, for one client or for all.
  void announce(const ConnectionPtr& client, std::string_view line);
  void announce(std::string_view line);

 private:
  struct Watcher {
    ConnectionPtr client;
    std::string agent, verdict;  // as in a line; empty: any
    std::uint64_t missed = 0;
  };
  void on_lines(std::string_view lines);  // under the log's lock, from any thread
  void look();
  [[nodiscard]] std::vector<ConnectionPtr> clients() const;
  void hand_out(Watcher& watcher, std::string_view line);
  void tell_missed(Watcher& watcher);

  boost::asio::io_context& context_;
  boost::asio::steady_timer timer_;
  std::atomic<bool> is_watched_{false};
  std::mutex mutex_;              // of the next three
  std::string queue_;             // lines not yet passed on
  std::uint64_t overflowed_ = 0;  // lines that did not fit
  bool is_expected_ = false;      // the main thread looks by itself
  std::string spare_;             // empty; its memory is the next queue's
  std::map<Connection*, Watcher> watchers_;
};

}  // namespace stile::control
