// Tunnel: a CONNECT that was allowed and relays. Small, because there may be many idle ones.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "acl/hello.h"
#include "proxy/net/relay.h"
#include "proxy/session/context.h"
#include "proxy/session/frozen_tunnel.h"
#include "proxy/session/hello_guard.h"
#include "proxy/session/live.h"
#include "proxy/session/request.h"

namespace stile::session {

class Tunnel final : public Pooled, public Live, private net::Relay, private Deadline {
 public:
  // Owns itself. `first` was already read from the client and goes to the origin; it begins with
  // hello_bytes of a hello that passed (0: none was expected).
  static void start(Context& context, Peer peer, const Request& request, SocketPtr client,
                    SocketPtr origin, std::string_view first, std::size_t hello_bytes);

  // Continues a tunnel of another process, under the policy in force here. What that policy
  // refuses is reset, with its line.
  static void adopt(Context& context, FrozenTunnel frozen);

  void judge_again(const acl::Snapshot& snapshot, bool all) override;
  void close_if_cut() override {
    if (is_revoked_) close(acl::Reason::revoked);
  }
  void drain() override {}  // it may finish; the server ends it when time is up
  void end() override { close(is_revoked_ ? acl::Reason::revoked : acl::Reason::draining); }
  [[nodiscard]] bool can_move() const noexcept override;
  [[nodiscard]] bool move_to(TunnelSink& sink) override;
  [[nodiscard]] bool describe(ConnectionInfo& info) const override;

 private:
  Tunnel(Context& context, Peer peer, const Request& request, SocketPtr client, SocketPtr origin);
  Tunnel(Context& context, Peer peer, FrozenTunnel& frozen, SocketPtr client, SocketPtr origin);
  [[nodiscard]] FrozenTunnel freeze_all();
  void pass_first(const Request& request, std::string_view first, std::size_t hello_bytes);
  void on_end(End end) noexcept override;
  [[nodiscard]] bool filter(bool up, std::string_view bytes, std::string& to_origin) override;
  void on_deadline() override;
  [[nodiscard]] acl::Decision decide(const acl::AgentPolicy& agent) const;
  [[nodiscard]] acl::Reason fault_of(HelloGuard::Step step, std::string& to_origin);
  void charge_to(const acl::Grant* grant);
  [[nodiscard]] std::string rule_text() const noexcept;
  void revoke();
  void close(acl::Reason reason) noexcept;  // writes the line and destroys this

  Context& context_;
  Peer peer_;
  std::unique_ptr<std::string> authority_;  // canonical; for the log and for judging again
  std::shared_ptr<acl::Lease> charged_;     // keeps the meter's grant alive
  acl::Address origin_;
  std::unique_ptr<HelloGuard> guard_;  // until no second hello can follow
  acl::Reason opened_despite_;         // as in its `open` line
  acl::Reason cut_ = acl::Reason::none;
  bool is_revoked_ = false;  // the client has been reset; close() follows
  acl::HelloFacts hello_;
  SteadyTime begun_;
  // What it is open by; both belong to the policy that peer_ keeps.
  acl::RuleRef rule_;
  const acl::AccessRule* access_rule_;
};

}  // namespace stile::session
