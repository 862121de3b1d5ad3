// Commands: executes the requests of the control socket.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "audit/log.h"
#include "config/accounts.h"
#include "control/connection.h"
#include "control/log_health.h"
#include "control/policy_editor.h"
#include "control/request.h"
#include "control/tail_feed.h"
#include "proxy/commands/ask_service.h"
#include "proxy/commands/views.h"
#include "proxy/commands/workers.h"

namespace stile::commands {

class Commands final : public control::Service {
 public:
  // What it needs from the rest of the daemon.
  struct Daemon {
    std::function<void()> drain;
    std::function<Result<audit::Log::Head>()> rotate;
    std::function<std::uint32_t()> connections_open;
    // How long open connections may still run; nullopt: the daemon is not draining.
    std::function<std::optional<std::chrono::milliseconds>()> drain_time_left;
    std::string_view version;
    std::string program = {};  // what distinguishes its file from another one, see status
    // The CA that signs for opened hosts, PEM, made if there is none yet; "": that failed.
    std::function<std::string()> trusted_ca = {};
    bool is_run = false;  // a `stile run`: refuses the actions that need a daemon
    // Who, beside root and the daemon's own user, hands over the policy of a fleet.
    std::optional<config::User> fleet_user = {};
    // Whether the sockets of the fence's captured traffic are there; nullopt: none are needed.
    std::function<std::optional<bool>()> is_capturing = [] { return std::nullopt; };
    // Serves one of them. Fails if the daemon has it already, or does not serve the fence.
    std::function<Result<void>(UniqueFd socket)> serve_captured = {};
    // Another process, with that id, takes over; it is at the other end of the link.
    std::function<control::Outcome<void>(UniqueFd link, int pid)> take_over = {};
  };
  Commands(boost::asio::io_context& context, control::PolicyEditor& editor, AskService& asks,
           audit::Log& log, WorkerPorts workers, Daemon daemon);

  void serve(const control::ControlRequest& request, const control::ConnectionPtr& client) override;
  [[nodiscard]] const control::Actions& actions() const override;
  void on_closed(control::Connection& client) override;
  // Whether it has lent a listener, which ends with it.
  [[nodiscard]] bool is_lender(control::Connection& client) const {
    return lent_.count(&client) != 0;
  }
  [[nodiscard]] bool has_lenders() const noexcept { return !lent_.empty(); }
  // Tells the clients that watch the log that it fails, or works again.
  void announce(const control::LogNews& news);

  using Client = control::ConnectionPtr;
  using Request = control::ControlRequest;
  // Handlers of the table in actions.cc: those that only read.
  void ping(const Request& request, const Client& client);
  void status(const Request& request, const Client& client);
  void agents(const Request& request, const Client& client);
  void agent(const Request& request, const Client& client);
  void connections(const Request& request, const Client& client);
  void explain(const Request& request, const Client& client);
  void secrets(const Request& request, const Client& client);
  void trust(const Request& request, const Client& client);
  void tail(const Request& request, const Client& client);
  void log(const Request& request, const Client& client);
  void config(const Request& request, const Client& client);
  void list_asks(const Request& request, const Client& client);
  void ask(const Request& request, const Client& client);
  // Those that change something.
  void put_agent(const Request& request, const Client& client);
  void remove_agent(const Request& request, const Client& client);
  void allow(const Request& request, const Client& client);
  void answer(const Request& request, const Client& client);
  void revoke(const Request& request, const Client& client);
  void set_mode(const Request& request, const Client& client);
  void reset_budget(const Request& request, const Client& client);
  void note_check(const Request& request, const Client& client);
  void reload(const Request& request, const Client& client);
  void rotate(const Request& request, const Client& client);
  void drain(const Request& request, const Client& client);
  void adopt_listener(const Request& request, const Client& client);
  void adopt_capture(const Request& request, const Client& client);
  void fleet(const Request& request, const Client& client);
  void take_over(const Request& request, const Client& client);

  // nullopt: no fleet has ever handed anything over.
  [[nodiscard]] std::optional<FleetView> fleet_view() const;

 private:
  // One lent listener: the worker that serves it, and the agent that exists only as long as it
  // does.
  struct Lent {
    std::uint64_t number = 0;
    std::size_t worker = 0;
    std::string agent;
    bool is_own_agent = false;
  };

  // The last check of an agent's fence that was reported. A new agent of that id has another
  // account.
  struct NotedCheck {
    CheckView view;
    std::weak_ptr<const acl::Account> account;
  };
  void add_check(AgentView& view) const;

  // With the address of a name server, the socket is one of captured traffic.
  void lend(UniqueFd listener, const std::string& agent, bool is_own_agent, const Client& client,
            const std::optional<acl::Address>& name_server = {});
  // Returns the agent, or null after answering the client that it does not exist.
  [[nodiscard]] const control::LivePolicy::Running* find(const std::string& id,
                                                         const Client& client) const;
  [[nodiscard]] PingView ping_view() const;
  // The changes that allow what was asked; `grant` gets the id of the new grant.
  [[nodiscard]] control::Outcome<control::AgentOverlay> overlay_for(
      const control::Ask& ask, const control::LivePolicy::Running& running, Request& request,
      const Client& client, std::string& grant) const;
  void commit(const control::Edit& edit, control::ChangeLine line, const Client& client,
              std::string answer);

  boost::asio::io_context& context_;
  control::PolicyEditor& editor_;
  AskService& asks_;
  audit::Log& log_;
  WorkerPorts workers_;
  Daemon daemon_;
  control::TailFeed tail_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  // Of stile-fleet to its store, as it reports it.
  struct FleetLink {
    bool is_connected = false;
    std::chrono::steady_clock::time_point last_report, last_contact;
  };
  std::optional<FleetLink> fleet_link_;
  std::multimap<control::Connection*, Lent> lent_;
  std::map<std::string, NotedCheck> checks_;
  std::uint64_t next_number_ = 1;
};

}  // namespace stile::commands
