// Tunnel: a CONNECT that was allowed and relays.
#include "proxy/session/tunnel.h"

#include <exception>

#include "proxy/base/clock.h"
#include "proxy/net/sockaddr.h"

namespace stile::session {

Tunnel::Tunnel(Context& context, Peer peer, const Request& request, SocketPtr client,
               SocketPtr origin)
    : Relay{context.relay, std::move(client), std::move(origin)},
      context_{context},
      peer_{std::move(peer)},
      charged_{request.charged},
      origin_{*request.origin},
      opened_despite_{request.opened_despite},
      hello_{request.hello},
      begun_{request.begun},
      rule_{request.decision.rule},
      access_rule_{request.decision.access_rule} {
  const acl::Decision& decision = request.decision;
  if (decision.literal) {
    authority_ =
        std::make_unique<std::string>(net::endpoint_text(*decision.literal, decision.port));
  } else {
    const std::string_view host = decision.host.text();
    authority_ = std::make_unique<std::string>();
    authority_->reserve(host.size() + sizeof ":65535");
    authority_->append(host).append(":").append(std::to_string(decision.port));
  }
  meter_up() = request.up;
  meter_down() = request.down;
  context_.log.tunnel_opens(peer_);
  context_.live.push_back(*this);
  context_.loop.arm(*this, context_.limits.idle_timeout);
}

void Tunnel::start(Context& context, Peer peer, const Request& request, SocketPtr client,
                   SocketPtr origin, std::string_view first, std::size_t hello_bytes) {
  auto* self = new Tunnel{context, std::move(peer), request, std::move(client), std::move(origin)};
  try {
    self->pass_first(request, first, hello_bytes);
  } catch (const std::exception&) {
    self->close(acl::Reason::internal_error);  // no memory, and nothing may go out unguarded
  }
}

void Tunnel::pass_first(const Request& request, std::string_view first, std::size_t hello_bytes) {
  if (hello_bytes == 0 || request.judged_by->mode == acl::Mode::observe) return begin(first, 0);
  guard_ = std::make_unique<HelloGuard>();
  set_filtered(true);
  const std::string_view behind = first.substr(hello_bytes);
  if (behind.empty()) return begin(first, 0);
  std::string to_origin{first.substr(0, hello_bytes)};
  cut_ = fault_of(guard_->from_client(behind, to_origin), to_origin);
  if (cut_ != acl::Reason::none) return close(cut_);
  begin(to_origin, first.size() - to_origin.size());
}

// A reason cuts the tunnel. The second hello is judged by the policy in force.
acl::Reason Tunnel::fault_of(HelloGuard::Step step, std::string& to_origin) {
  if (step == HelloGuard::Step::go_on) return acl::Reason::none;
  if (step == HelloGuard::Step::not_tls) return acl::Reason::not_tls;
  const tls::Hello& hello = guard_->second_hello();
  const auto* agent = peer_.in(*context_.policy.get());
  if (agent == nullptr) return acl::Reason::revoked;
  acl::Decision decision = decide(**agent);
  if (!decision.passes() || decision.is_opened) return acl::Reason::revoked;
  const auto facts = acl::facts_of_hello(hello.has_sni, hello.sni, hello.has_ech, decision.host);
  acl::judge_hello(**agent, facts, decision);
  if (!decision.passes()) return decision.reason;
  hello_.has_ech = hello_.has_ech || facts.has_ech;
  guard_->release(to_origin);
  return acl::Reason::none;
}

// True: continue. Filtering ends once a second hello can no longer come.
bool Tunnel::filter(bool up, std::string_view bytes, std::string& to_origin) {
  const bool awaited = guard_->awaits_hello();
  if (cut_ == acl::Reason::none) {
    cut_ =
        fault_of(up ? guard_->from_client(bytes, to_origin) : guard_->from_origin(bytes, to_origin),
                 to_origin);
  }
  if (cut_ != acl::Reason::none) return false;
  if (guard_->is_done()) {
    guard_.reset();
    set_filtered(false);
    context_.loop.arm(*this, context_.limits.idle_timeout);
  } else if (!awaited && guard_->awaits_hello()) {
    context_.loop.arm(*this, context_.limits.client_hello_timeout);
  }
  return true;
}

// Sleeps, then checks: a busy tunnel pays nothing per byte. Both directions count together, so that
// a one-way stream stays open.
void Tunnel::on_deadline() {
  if (is_revoked_) return;
  if (guard_ && guard_->awaits_hello()) return close(acl::Reason::client_hello_timeout);
  const auto idle_since = context_.loop.now() - last_byte();
  if (idle_since >= context_.limits.idle_timeout) return close(acl::Reason::idle_timeout);
  context_.loop.arm(*this, std::chrono::ceil<std::chrono::milliseconds>(
                               context_.limits.idle_timeout - idle_since));
}

void Tunnel::on_end(End end) noexcept {
  close(end == End::budget_spent ? acl::Reason::budget_exhausted : cut_);
}

// When many are revoked, all clients are cut off before the first is cleaned up.
void Tunnel::revoke() {
  if (guard_ && guard_->awaits_hello()) return close(acl::Reason::revoked);
  cut_client();
  is_revoked_ = true;
}

acl::Decision Tunnel::decide(const acl::AgentPolicy& agent) const {
  acl::Query query;
  query.agent = &agent;
  query.authority = acl::split_authority(*authority_);
  query.now = unix_micros();
  query.charged = charged_.get();
  query.source = peer_.source();
  query.method = "CONNECT";
  const std::vector<acl::Address> dialled{origin_};
  query.addresses = &dialled;
  return acl::decide(query);
}

void Tunnel::judge_again(const acl::Snapshot& snapshot, bool all) {
  if (is_revoked_) return close(acl::Reason::revoked);
  const auto* agent = peer_.in(snapshot);
  if (agent == nullptr) return revoke();
  if (!all && agent->get() == peer_.agent.get()) return;  // nothing changed for this agent
  acl::Decision decision = decide(**agent);
  acl::judge_hello(**agent, hello_, decision);
  // A host that is opened now must not be reached through a sealed tunnel.
  if (!decision.passes() || decision.is_opened ||
      !acl::may_dial(**agent, decision, origin_, *context_.own_addresses)) {
    return revoke();
  }
  peer_.agent = *agent;
  rule_ = decision.rule;
  access_rule_ = decision.access_rule;
  charge_to(decision.grant);
}

// From now on its bytes are charged to the grant that allows it now: a grant that ended pays for
// nothing more, and one that took over is not bypassed.
void Tunnel::charge_to(const acl::Grant* grant) {
  meter_up() = {};
  meter_up().draw_on(peer_.account->bytes_up);
  charged_ = grant == nullptr ? nullptr : grant->lease;
  if (charged_) meter_up().draw_on(charged_->bytes_up);
}

// Empty if memory is short.
std::string Tunnel::rule_text() const noexcept {
  try {
    return acl::rule_text(rule_, access_rule_);
  } catch (const std::exception&) {
    return {};
  }
}

void Tunnel::close(acl::Reason reason) noexcept {
  if (cut_ != acl::Reason::none || (guard_ && guard_->awaits_hello())) {
    // Still in its handshake: send an alert to the client's TLS library.
    static_cast<void>(
        client().write(tls::access_denied_alert.data(), tls::access_denied_alert.size()));
  } else if (reason != acl::Reason::none) {
    reset_both();
  }
  const std::string rule = rule_text();
  context_.log.tunnel_ends(peer_, {.authority = *authority_,
                                   .rule = rule,
                                   .origin = origin_,
                                   .opened_despite = opened_despite_,
                                   .cut = reason,
                                   .bytes_up = bytes_up(),
                                   .bytes_down = bytes_down(),
                                   .policy = context_.policy.get()->generation(),
                                   .begun = begun_});
  delete this;
}

bool Tunnel::describe(ConnectionInfo& info) const {
  const acl::Authority authority = acl::split_authority(*authority_);
  info.agent = peer_.id();
  info.host = std::string{authority.host};
  info.port = acl::parse_port(authority.port).value_or(0);
  info.origin = origin_.text();
  info.bytes_up = bytes_up();
  info.bytes_down = bytes_down();
  info.age_seconds = std::chrono::duration<double>(context_.loop.now() - begun_).count();
  return true;
}

}  // namespace stile::session
