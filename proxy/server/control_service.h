// ControlService: serves the requests of the control socket.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "audit/log.h"
#include "control/connection.h"
#include "control/request.h"
#include "proxy/server/gather.h"
#include "proxy/server/policy_desk.h"
#include "proxy/server/tail_feed.h"

namespace stile::server {

struct LogNews;

class ControlService final : public control::Service {
 public:
  // What it needs from the rest of the daemon.
  struct Daemon {
    std::function<void()> drain;
    std::function<Result<audit::Log::Head>()> rotate;
    std::function<std::uint32_t()> connections_open;
    // How long open connections may still run; nullopt: the daemon is not draining.
    std::function<std::optional<std::chrono::milliseconds>()> drain_time_left;
  };
  ControlService(boost::asio::io_context& context, PolicyDesk& desk, audit::Log& log,
                 Workers& workers, Daemon daemon);

  void serve(const control::Request& request, const control::ConnectionPtr& client) override;
  void on_closed(control::Connection& client) override;
  // Tells the clients that watch the log that it fails, or works again.
  void announce(const LogNews& news);

 private:
  using Client = control::ConnectionPtr;
  using Request = control::Request;
  // One lent listener: the worker that serves it, and the agent that exists only as long as it
  // does.
  struct Lent {
    std::uint64_t number = 0;
    std::size_t worker = 0;
    std::string agent;
    bool is_own_agent = false;
  };

  // Requests that only read.
  void ping(const Client& client);
  void status(const Client& client);
  void agents(const Client& client);
  void agent(const Request& request, const Client& client);
  void connections(const Request& request, const Client& client);
  void explain(const Request& request, const Client& client);
  void tail(const Request& request, const Client& client);
  void log(const Request& request, const Client& client);
  void config(const Request& request, const Client& client);
  [[nodiscard]] std::string head_of_status() const;

  // Requests that change something.
  void put_agent(const Request& request, const Client& client);
  void remove_agent(const Request& request, const Client& client);
  void allow(const Request& request, const Client& client);
  void revoke(const Request& request, const Client& client);
  void set_mode(const Request& request, const Client& client);
  void reset_budget(const Request& request, const Client& client);
  void reload(const Client& client);
  void rotate(const Client& client);
  void adopt_listener(const Request& request, const Client& client);
  void lend(UniqueFd listener, const std::string& agent, bool is_own_agent, const Client& client);
  // Returns the agent, or null after answering the client that it does not exist.
  [[nodiscard]] const control::LivePolicy::Running* find(const std::string& id,
                                                         const Client& client) const;
  void commit(const control::Edit& edit, ChangeLine line, const Client& client, std::string answer);

  boost::asio::io_context& context_;
  PolicyDesk& desk_;
  audit::Log& log_;
  Workers& workers_;
  Daemon daemon_;
  TailFeed tail_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::multimap<control::Connection*, Lent> lent_;
  std::uint64_t next_number_ = 1;
};

}  // namespace stile::server
