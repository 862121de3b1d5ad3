// Worker: one thread with its own loop, listeners, resolver and counters.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "proxy/base/loop.h"
#include "proxy/commands/workers.h"
#include "proxy/session/acceptor.h"
#include "proxy/session/context.h"
#include "proxy/session/frozen_tunnel.h"
#include "proxy/session/name_socket.h"

namespace stile::server {

class Worker final : public commands::WorkerPort, private Deadline {
 public:
  struct Options {
    std::uint64_t index = 0, count = 1;
    dns::ResolverOptions dns;
    dns::Environment dns_environment;
    session::Limits limits;
    std::shared_ptr<const acl::PrefixMap> own_addresses;
  };
  Worker(session::Shared& shared, audit::Log& log, const Options& options);
  ~Worker();

  // These three before start(), or later from any other thread.
  void listen(UniqueFd listener, std::optional<std::string> agent);
  // Connections to addresses that stand for names, and to port 53 of `name_server`.
  void capture(UniqueFd listener, std::optional<std::string> agent,
               const acl::Address& name_server);
  void answer_questions(UniqueFd socket, std::optional<std::string> agent);
  // Continues a tunnel of another process.
  void adopt(session::FrozenTunnel tunnel);
  // Another process is about to serve: new connections and questions wait.
  void hold_doors(bool on);
  // Another process serves: closes the listeners.
  void leave();
  // Hands over each tunnel as soon as it can be. The sink must live until stop().
  void hand_over_to(session::TunnelSink& sink);
  void start();
  // Ends open connections, writes their lines, and joins the thread.
  void stop();

  void post(std::function<void(session::Context&)> work) override;
  // Sets new bounds, servers or hosts; from a thread that may open files.
  void change_dns(const dns::ResolverOptions& options, const dns::Environment& environment);
  // Has everything open judged again, soon. Calls that come faster than the worker can follow are
  // merged. `all`: time has passed, so also agents whose entry is the same.
  void judge_again(bool all);
  // Waits until that has been done and what it cut is closed; not longer than that. Not for the
  // worker's own thread.
  void wait_until_judged(std::chrono::milliseconds most);
  void lend(std::uint64_t number, UniqueFd listener, std::string agent) override;
  void lend_capture(std::uint64_t number, UniqueFd socket, std::string agent,
                    const acl::Address& name_server) override;
  void release(std::uint64_t number) override;

 private:
  // Now if the worker has not started yet, else on its thread.
  void on_loop(std::function<void()> work);
  void on_deadline() override;
  [[nodiscard]] bool move_some();
  void start_judging(bool all);
  void begin_pass();
  void judge_some();
  void end_pass(const acl::Snapshot& snapshot);

  // A marker in the list of open connections, after those that have been judged.
  struct Round final : session::Live {
    void judge_again(const acl::Snapshot&, bool) override {}
    void drain() override {}
    void end() override {}
    [[nodiscard]] bool describe(session::ConnectionInfo&) const override { return false; }
    bool all = false;          // also agents whose entry is the same
    bool is_judging = false;   // otherwise it closes what was cut
    bool again = false;        // the policy has changed since this pass began
    std::uint64_t number = 0;  // of the calls of judge_again that it serves
  };

  Loop loop_;
  session::Context context_;
  std::vector<std::unique_ptr<session::Acceptor>> acceptors_;
  std::vector<std::unique_ptr<session::NameSocket>> name_sockets_;
  struct LentListener {
    std::shared_ptr<bool> is_served;
    std::unique_ptr<session::Acceptor> acceptor;
    std::unique_ptr<session::NameSocket> names;
  };
  std::unordered_map<std::uint64_t, LentListener> lent_;
  std::atomic<int> judging_{0};  // 0: none requested; 1: changed agents; 2: all
  std::mutex judged_mutex_;
  std::condition_variable judged_changed_;
  std::uint64_t asked_ = 0, judged_ = 0;  // calls of judge_again: made, and served
  Round round_;
  // Looks again for tunnels that can be handed over by now.
  struct NextMove final : Deadline {
    void on_deadline() override { is_due = true; }
    bool is_due = false;
  };
  session::TunnelSink* sink_ = nullptr;
  NextMove next_move_;
  std::thread thread_;
  SteadyTime give_up_{};
};
using Workers = std::vector<std::unique_ptr<Worker>>;
// Has everything open judged by a new policy, and waits for it: once a change is answered, what it
// cuts is cut, and a change back cannot overtake it. A worker that cannot follow ends the wait.
void judge_now(const Workers& workers);
[[nodiscard]] commands::WorkerPorts ports_of(const Workers& workers);

}  // namespace stile::server
