// Session: one client connection, from accept until it ends or becomes a tunnel.
//
// accept → read_head → decide → resolve → decide_address → dial → answer → read_hello → check_sni
// → relay; each phase is one function, and what ends a request in any of them is a reason code.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acl/decide.h"
#include "proxy/base/event.h"
#include "proxy/base/loop.h"
#include "proxy/base/task.h"
#include "proxy/http/head.h"
#include "proxy/net/dialer.h"
#include "proxy/session/context.h"
#include "proxy/session/live.h"
#include "proxy/session/request.h"

namespace stile::session {

class Session final : public Pooled, public Live, private Deadline, private Watcher {
 public:
  // Serves the connection on the context's loop; it owns itself from here on.
  static void start(Context& context, SocketPtr client, Peer peer);
  ~Session() { context_.buffers.give_back(std::move(in_)); }

  void judge_again(const acl::Snapshot& snapshot, bool all) override;
  void drain() override;
  void end() override { cancel(acl::Reason::draining); }
  [[nodiscard]] bool describe(ConnectionInfo& info) const override;

 private:
  friend class HttpExchange;
  using Reason = acl::Reason;

  Session(Context& context, SocketPtr client, Peer peer);
  static Detached own(std::unique_ptr<Session> self);

  // Phases. A Reason other than none ends the request with it.
  Task<> run();
  Task<Reason> read_head(http::RequestHead& head);
  [[nodiscard]] std::chrono::nanoseconds throttle_time();
  Task<> throttle(std::chrono::nanoseconds pause);
  void decide(Request& request);
  [[nodiscard]] Reason charge(Request& request);
  Task<Reason> charge_first(Request& request);
  Task<Reason> connect_to_origin(Request& request);
  Task<Reason> find_origin(Request& request);
  Task<Reason> resolve(const Request& request, std::vector<acl::Address>& addresses);
  Task<Reason> dial(Request& request, std::vector<acl::Address> addresses);
  Task<> serve_connect(http::RequestHead& head);
  Task<Reason> read_hello(Request& request, std::size_t& hello_bytes);
  Task<Reason> open_tunnel(Request& request);
  void become_tunnel(Request& request, std::size_t hello_bytes);
  // Before the first byte goes to the origin: is this still right under the policy in force?
  [[nodiscard]] Reason still_allowed(Request& request);
  Task<bool> write_open(Request& request);

  // Answers. `refuse` returns once the answer is out; the connection is then to be closed unless
  // keep_alive was asked for. False: not all of it is out, and nothing more may follow.
  Task<bool> refuse(Request& request, Reason reason, bool keep_alive = false);
  // After the 200 there is no HTTP any more: the client's TLS library gets an alert.
  Task<> refuse_tunnel(Request& request, Reason reason);
  // `count` grows by what went out, also if that is not all.
  Task<bool> send(Socket& socket, std::string_view bytes, std::uint64_t* count = nullptr);
  Task<> linger();
  // One read into `in_`; may come back with nothing new. False: ended, failed or cancelled.
  Task<bool> read_more();
  Task<bool> answer_refusal(const Request& request, Reason reason, bool keep_alive);

  // Waiting. Everything that waits comes back at once after cancel().
  void cancel(Reason reason);
  void on_deadline() override { cancel(deadline_reason_); }
  void on_ready(Socket&) override;
  void set_deadline(std::chrono::milliseconds after, Reason reason);
  Task<> wait(Event& event);
  // Until more of a budget or grant may be on record, or somebody was cancelled: look again.
  Task<> wait_for_refill();
  [[nodiscard]] bool is_cancelled() const noexcept { return cancelled_ != Reason::none; }

  Context& context_;
  Peer peer_;
  SocketPtr client_, origin_;
  std::string in_;              // received and not yet used
  std::size_t head_bytes_ = 0;  // of them, the head being served
  http::HeadScanner scanner_;
  std::string_view head_problem_;  // for people; a constant of the parser
  std::string kept_authority_;  // whom origin_ is connected to, between plain-HTTP requests
  acl::Address kept_address_;
  Request* current_ = nullptr;  // the request being served, for judge_again and describe
  Event* waiting_for_ = nullptr;
  Reason deadline_reason_ = Reason::header_timeout;
  Reason cancelled_ = Reason::none;
  bool is_tunnel_ = false;
  net::Dialer* dialer_ = nullptr;  // while one runs
  bool drain_ = false;
  bool served_one_ = false;
};

}  // namespace stile::session
