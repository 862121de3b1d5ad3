// Server: the daemon as a whole: workers, signals, control, metrics, drain.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "audit/log.h"
#include "config/accounts.h"
#include "control/budget_share.h"
#include "control/log_health.h"
#include "control/policy_editor.h"
#include "control/server.h"
#include "proxy/commands/commands.h"
#include "proxy/commands/workers.h"
#include "proxy/server/admin_http.h"
#include "proxy/server/card_watch.h"
#include "proxy/server/dns_environment.h"
#include "proxy/server/file_thread.h"
#include "proxy/server/host_addresses.h"
#include "proxy/server/inheritance.h"
#include "proxy/server/keeper.h"
#include "proxy/server/listeners.h"
#include "proxy/server/opening.h"
#include "proxy/server/policy_store.h"
#include "proxy/server/predecessor.h"
#include "proxy/server/rendezvous.h"
#include "proxy/server/secret_keeper.h"
#include "proxy/server/taker.h"
#include "proxy/server/upgrade.h"
#include "proxy/server/worker.h"

namespace stile::server {

// What another program needs to run the daemon under its own name.
struct Front {
  // A further directory for written files, besides those of the log and the state.
  std::vector<std::string> writable_directories;
  // Called with the result of a SIGHUP or SIGUSR1, and the time it was received. May be empty.
  std::function<void(int signal, std::chrono::steady_clock::time_point received, bool is_done,
                     const std::string& text)>
      on_outcome;
  // Called once, when it serves. May be empty.
  std::function<void()> is_serving{};
  // What systemd watches in place of this process, if that is not itself.
  Keeper keeper{};
};

class Server {
 public:
  // With a predecessor, this process takes over from it.
  explicit Server(PolicyStore store, Front front = {},
                  std::unique_ptr<Predecessor> predecessor = nullptr);
  ~Server();

  // Binds, drops privileges, reads the state, opens the log, enters the sandbox. Serves nothing
  // yet.
  [[nodiscard]] Result<void> prepare();
  // Serves until it is stopped. An error: it could not take over, and its predecessor goes on.
  [[nodiscard]] Result<void> run();

 private:
  [[nodiscard]] Result<void> bind();
  [[nodiscard]] Result<void> bind_capture(CaptureSockets passed, std::size_t workers);
  [[nodiscard]] Result<void> serve_captured(UniqueFd socket);
  void give_capture(CaptureSockets sockets);
  [[nodiscard]] std::optional<bool> is_capturing() const;
  [[nodiscard]] Result<void> open_editor();
  [[nodiscard]] Result<std::optional<control::StateFile>> inherit_state();
  [[nodiscard]] Result<void> read_fleet(const control::StateFile& file, config::FleetState& fleet);
  [[nodiscard]] Result<void> prepare_secrets();
  [[nodiscard]] std::string trusted_ca();
  [[nodiscard]] Result<void> confine();
  [[nodiscard]] Result<void> open_log(const control::SavedState& saved);
  void keep_names();
  void start_workers();
  void open_doors();
  // Taking over: take_over.cc.
  void inherit_passed(ControlSockets& control, CaptureSockets& capture);
  [[nodiscard]] bool inherit_listener(const config::Endpoint& endpoint,
                                      const std::optional<std::string>& agent);
  // The settings of the log that must be the same for both, as a text.
  [[nodiscard]] std::string audit_text() const;
  [[nodiscard]] std::vector<UniqueFd> inherited(SocketRole role, const std::string& name = {},
                                                const std::string& agent = {});
  [[nodiscard]] Result<void> take_over();
  void receive_tunnels();
  void watch_predecessor();
  void on_predecessor(Message message);
  void tell_predecessor(const acl::Snapshot& snapshot);
  // Handing over: hand_over.cc.
  void offer(SocketRole role, const std::string& name, const std::string& agent,
             std::vector<int> descriptors);
  control::Outcome<void> hand_over(UniqueFd link, int pid);
  void watch_taker();
  void on_taker(Message message);
  void send_offer(const Message& hello);
  void commit_to_taker(std::uint64_t next_conn);
  void send_minutes();
  void stay(const std::string& why);
  // Leaving, after that: leave.cc.
  void leave(std::string config_digest);
  void refill_from_taker();
  void await_drawn();
  void give_back_budgets();
  void send_debts();
  void await_left();
  void serve_taker(const Message& message);
  void follow_taker(const Message& changed);
  void judge_left();
  void wake_paused();
  // During `systemctl restart`: outlive.cc.
  void watch_keeper();
  void await_order();
  void outlive();
  void watch_myself() const;
  void watch_rendezvous();
  void meet_successor(UniqueFd link);
  void give_way();
  [[nodiscard]] static control::BudgetKey budget_of(const Message& message);
  void start_control();
  void wait_for_signal();
  void on_signal(int signal);
  Result<audit::Log::Head> reopen_log();
  void end_or_stop(bool& was_requested);
  void drain();
  [[nodiscard]] std::optional<std::chrono::milliseconds> drain_time_left() const;
  void await_drained();
  void stop();
  void settings_changed();
  void prepare_opening();
  void refresh_secrets();
  void change_dns();
  void housekeeping();
  void look_at_log();
  [[nodiscard]] Result<void> find_addresses();
  void watch_addresses();
  void refresh_addresses();
  void write_line(audit::Record record);
  void collect_metrics(std::function<void(std::string)> done);
  [[nodiscard]] std::string exposition(const std::vector<session::Report>& reports) const;
  [[nodiscard]] const config::Settings& settings() const;
  void each_worker(const std::function<void(session::Context&)>& work);
  void notify(const std::string& state) const;

  const std::string program_ = program_identity();
  std::unique_ptr<Predecessor> predecessor_;
  Opening opening_;
  SecretKeeper secrets_;
  PolicyStore store_;  // its base belongs to the editor once there is one
  boost::asio::io_context context_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer tick_, drain_poll_, address_pause_;
  boost::asio::posix::stream_descriptor address_events_;
  std::optional<HostAddresses> host_addresses_;
  bool addresses_are_stale_ = false;  // the last query of the kernel after a change failed
  DnsFiles dns_files_;
  std::vector<acl::Address> listener_addresses_;
  std::vector<Listener> listeners_;
  bool sockets_may_block_ = false;  // as soon as systemd starts another process with them
  // Looked up before the sandbox closes; see commands::Commands::Daemon.
  std::optional<config::User> fleet_user_ = config::find_user("stile-fleet");
  ControlSockets control_sockets_;
  CaptureSockets capture_;    // until the workers have them
  bool is_of_fence_ = false;  // agents of the fence may have their traffic captured
  bool has_captured_connections_ = false, has_questions_ = false;
  std::optional<boost::asio::ip::tcp::acceptor> metrics_acceptor_;
  Front front_;
  std::unique_ptr<FileThread> file_thread_;
  std::unique_ptr<audit::Log> log_;
  control::LogHealth log_health_;
  commands::AskService asks_;  // outlives the workers and the editor, which use it
  std::unique_ptr<session::Shared> shared_;
  Workers workers_;
  std::unique_ptr<control::PolicyEditor> editor_;
  std::unique_ptr<commands::Commands> service_;
  std::unique_ptr<control::ControlServer> control_;
  CardWatch card_watch_;
  std::unique_ptr<HttpServer> admin_;
  std::chrono::steady_clock::time_point drain_until_;
  // What a process that takes over gets. The descriptors belong to others.
  struct Offered {
    SocketRole role;
    std::string name, agent;
    std::vector<int> descriptors;
  };
  std::vector<Offered> offered_;
  std::unique_ptr<Taker> taker_;
  std::unique_ptr<Inheritance> inheritance_;  // after this process has taken over
  bool was_told_to_end_ = false;              // by a signal; the second one ends at once
  bool was_ordered_to_end_ = false;           // the same, by the keeper
  boost::asio::posix::stream_descriptor keeper_events_{context_};
  struct Outliving {
    Outliving(boost::asio::io_context& context, HandoverLink link);
    void close() {
      events.close();
      rendezvous.close();
    }
    HandoverLink rendezvous;
    boost::asio::posix::stream_descriptor events;  // of the same socket
  };
  std::unique_ptr<Outliving> outliving_;  // systemd hears nothing from this process any more
  std::uint64_t alive_ = 0;               // workers that answered since the last tick
};

}  // namespace stile::server
