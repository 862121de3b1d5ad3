// Tunnel, between processes: frozen here, continued there.
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <exception>

#include "proxy/base/log.h"
#include "proxy/net/sockaddr.h"
#include "proxy/session/tunnel.h"

namespace stile::session {
namespace {

log::Throttle unmoved, doubtful;

// Whether the socket's peer is the one that the other process names. A connection that has ended
// has no peer any more.
bool is_peer(int fd, const acl::Address& address, std::uint16_t port) {
  net::SockAddr peer;
  if (::getpeername(fd, peer.get(), peer.size_for_kernel()) != 0) return errno == ENOTCONN;
  return peer.address().unmapped() == address.unmapped() && peer.port() == port;
}

bool has_its_peers(const FrozenTunnel& frozen) {
  const auto port = acl::parse_port(acl::split_authority(frozen.authority).port);
  const bool is_unix = frozen.by_listener && frozen.port == 0;
  return port && is_peer(frozen.relay.origin.get(), frozen.origin, *port) &&
         (is_unix || is_peer(frozen.relay.client.get(), frozen.source, frozen.port));
}

// The peer sees that the stream was cut.
void reset_when_closed(const UniqueFd& socket) {
  const linger at_once{1, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

std::string grant_of(const acl::AgentPolicy& agent, const std::shared_ptr<acl::Lease>& lease) {
  for (const auto& grant : agent.grants) {
    if (lease && grant.lease == lease) return grant.id;
  }
  return {};
}

}  // namespace

// While a second hello is due, which has its own deadline, or while it is being cut, it stays. So
// does one of a listener that is lent: its lender is connected to this process.
bool Tunnel::can_move() const noexcept {
  const bool is_cut = is_revoked_ || cut_ != acl::Reason::none;
  const bool is_at_rest = !guard_ || !guard_->awaits_hello();
  return is_at_rest && !is_cut && peer_.agent && !peer_.is_lent() &&
         unsent_bytes() + (guard_ ? guard_->held_bytes() : 0) <= FrozenTunnel::max_unsent;
}

FrozenTunnel Tunnel::freeze_all() {
  FrozenTunnel frozen;
  frozen.agent = peer_.agent->id;
  frozen.identity = identity_of(*peer_.agent);
  frozen.shown = peer_.id();
  frozen.source = peer_.source();
  frozen.port = peer_.port();
  frozen.by_listener = peer_.is_known_by_listener();
  frozen.conn = peer_.conn;
  if (peer_.captured) frozen.captured = {peer_.captured->address, peer_.captured->port};
  frozen.authority = *authority_;
  frozen.origin = origin_;
  frozen.grant = grant_of(*peer_.agent, charged_);
  frozen.opened_despite = opened_despite_;
  frozen.hello = hello_;
  frozen.begun = begun_;
  if (guard_) frozen.guard = guard_->freeze();
  frozen.relay = freeze();  // last: from here on it cannot go on in this process
  return frozen;
}

bool Tunnel::move_to(TunnelSink& sink) {
  bool is_sent = false;
  FrozenTunnel frozen = freeze_all();
  try {
    is_sent = sink.send(frozen);
  } catch (const std::exception& problem) {
    unmoved.warning("a tunnel was not handed over: ", problem.what());
  }
  if (!is_sent) {
    reset_when_closed(frozen.relay.client);
    reset_when_closed(frozen.relay.origin);
    close(acl::Reason::internal_error);
    return false;
  }
  context_.log.tunnel_leaves(peer_);
  delete this;
  return true;
}

Tunnel::Tunnel(Context& context, Peer peer, FrozenTunnel& frozen, SocketPtr client,
               SocketPtr origin)
    : Relay{context.relay, std::move(client), std::move(origin)},
      context_{context},
      peer_{std::move(peer)},
      authority_{std::make_unique<std::string>(std::move(frozen.authority))},
      origin_{frozen.origin},
      opened_despite_{frozen.opened_despite},
      hello_{frozen.hello},
      begun_{frozen.begun},
      access_rule_{nullptr} {
  if (frozen.guard) {
    guard_ = std::make_unique<HelloGuard>(std::move(*frozen.guard));
    set_filtered(true);
  }
  resume(frozen.relay);
  meter_up().draw_on(peer_.account->bytes_up);
  meter_down().draw_on(peer_.account->bytes_down);
  context_.log.tunnel_opens(peer_);
  context_.live.push_back(*this);
  const auto idle_until = last_byte() + context_.limits.idle_timeout;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(idle_until - context_.loop.now());
  context_.loop.arm(*this,
                    std::clamp(left, std::chrono::milliseconds{1}, context_.limits.idle_timeout));
}

void Tunnel::adopt(Context& context, FrozenTunnel frozen) {
  const auto snapshot = context.policy.get();
  const auto* found = snapshot->by_id(frozen.agent);
  std::shared_ptr<const acl::AgentPolicy> agent;
  if (found != nullptr && identity_of(**found) == frozen.identity) agent = *found;
  if (!has_its_peers(frozen)) {
    doubtful.warning("a tunnel was handed over with other peers than it names: ", frozen.authority);
    agent = nullptr;  // it is cut below
  }
  SocketPtr client = context.loop.adopt(std::move(frozen.relay.client));
  SocketPtr origin = context.loop.adopt(std::move(frozen.relay.origin));
  const auto& tally = context.tally(frozen.shown);
  Peer peer{context.shared,
            agent,
            agent ? agent->account : context.shared.unknown,
            tally,
            frozen.source,
            frozen.port,
            frozen.conn,
            frozen.by_listener};
  if (frozen.captured) {
    const auto& to = *frozen.captured;
    auto stand_in = agent ? context.shared.names.find(*agent, to.address) : nullptr;
    peer.captured =
        std::make_unique<const Captured>(Captured{to.address, to.port, std::move(stand_in)});
  }
  if (!client || !origin) {
    doubtful.warning("the kernel refuses a tunnel that was handed over: ", frozen.authority);
    context.log.tunnel_opens(peer);
    return context.log.tunnel_ends(peer, {.authority = frozen.authority,
                                          .rule = {},
                                          .origin = frozen.origin,
                                          .opened_despite = frozen.opened_despite,
                                          .cut = acl::Reason::internal_error,
                                          .bytes_up = frozen.relay.up.bytes,
                                          .bytes_down = frozen.relay.down.bytes,
                                          .policy = snapshot->generation(),
                                          .begun = frozen.begun});
  }
  client->charge_to(tally->share);
  origin->charge_to(tally->share);
  const std::string grant = frozen.grant;
  auto* self = new Tunnel{context, std::move(peer), frozen, std::move(client), std::move(origin)};
  if (agent) {
    const auto charged = std::find_if(agent->grants.begin(), agent->grants.end(),
                                      [&](const acl::Grant& one) { return one.id == grant; });
    if (charged != agent->grants.end()) self->charged_ = charged->lease;
  }
  try {
    self->judge_again(*snapshot, true);
  } catch (const std::exception&) {
    return self->close(acl::Reason::internal_error);  // no memory to find out whether it may go on
  }
  self->close_if_cut();
}

}  // namespace stile::session
