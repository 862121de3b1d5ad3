// Connector: takes a request from its decision to a connection to its origin.
//
// decide → charge → resolve → decide_address → dial. Any front can use it: it does not depend on
// what is sent afterwards.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "acl/decide.h"
#include "proxy/base/task.h"
#include "proxy/net/dialer.h"
#include "proxy/net/stream.h"
#include "proxy/session/client.h"
#include "proxy/session/request.h"

namespace stile::session {

class Connector final : private Client::Follower {
 public:
  using Reason = acl::Reason;

  explicit Connector(Client& client) noexcept : client_{client} { client.follow(this); }
  ~Connector() { client_.follow(nullptr); }
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;

  // Decides about the request under the policy in force. Also finds what has expired since.
  void decide(Request& request);
  // Decides, and waits for a person if one is to be asked. None: the request is allowed.
  Task<Reason> decide_or_ask(Request& request);
  // Does all steps; for a tunnel that is opened only the decision: its requests dial. None:
  // `origin` is connected, and request.origin is its address. A kept connection is used if the
  // front can tell its requests apart.
  enum class Reuse : bool { no, yes };
  Task<Reason> connect(Request& request, Reuse reuse = Reuse::no);
  // Connects again to the address in the request's line, and to no other.
  Task<Reason> connect_again(Request& request);
  // Before the first byte goes to the origin: is the request still allowed by the policy in force?
  [[nodiscard]] Reason still_allowed(Request& request);

  // `origin` is idle: a later request to the same destination may use it.
  void keep_origin(const Request& request) noexcept;
  // The connection has served an earlier request.
  [[nodiscard]] bool is_reused() const noexcept { return is_reused_; }

  [[nodiscard]] bool is_dialling() const noexcept { return dialer_ != nullptr; }
  // A person is asked about the request. look_again(): the policy has changed, or the daemon stops.
  [[nodiscard]] bool is_asking() const noexcept { return asking_ != nullptr; }
  void look_again() noexcept { asking_->changed.fire(); }

  // Waits until the ask is answered, the time is over or the request was cancelled; `is_done` is
  // called after each change and ends the wait by returning true.
  Task<> wait_for_answer(const std::string& id, std::chrono::milliseconds most,
                         const std::function<bool()>& is_done);

  net::Stream origin;

 private:
  void on_cancel() noexcept override;
  [[nodiscard]] Reason charge(Request& request);
  [[nodiscard]] static bool still_has_secrets(const Request& request);
  [[nodiscard]] Reason count_on_host(Request& request);
  [[nodiscard]] static bool is_not_ready(const Request& request, Reason spent);
  Task<Reason> wait_for_record(Request& request, Reason spent);
  Task<Reason> ask(Request& request);
  [[nodiscard]] bool take_kept(Request& request);
  Task<Reason> find_and_dial(Request& request);
  Task<dns::ResolvedPtr> look_up(std::string_view name, Reason& failed);
  Task<Reason> dial(Request& request, std::vector<acl::Address> addresses);

  Client& client_;
  net::Dialer* dialer_ = nullptr;  // while it runs
  Asking* asking_ = nullptr;       // while a person is asked
  bool is_reused_ = false;
};

}  // namespace stile::session
