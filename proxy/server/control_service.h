// ControlService: does what is asked over the control socket.
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
  // What it needs of the rest of the daemon.
  struct Daemon {
    std::function<void()> drain;
    std::function<Result<audit::Log::Head>()> rotate;
    std::function<std::uint32_t()> connections_open;
    // How long what is open may still take; nullopt: the daemon does not drain.
    std::function<std::optional<std::chrono::milliseconds>()> drain_time_left;
  };
  ControlService(boost::asio::io_context& context, PolicyDesk& desk, audit::Log& log,
                 Workers& workers, Daemon daemon);

  void serve(const control::Request& request, const control::ConnectionPtr& client) override;
  void on_closed(control::Connection& client) override;
  // Tells whoever watches the log that it fails, or works again.
  void announce(const LogNews& news);

 private:
  using Client = control::ConnectionPtr;
  using Request = control::Request;
  // One lent listener: where it is served, and the agent that lives only as long as it.
  struct Lent {
    std::uint64_t number = 0;
    std::size_t worker = 0;
    std::string agent;
    bool is_own_agent = false;
  };

  // Looking.
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

  // Changing.
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
  // The agent, or the client is told that there is none.
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
