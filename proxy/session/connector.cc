// Connector: takes a request from its decision to a connection to its origin.
#include "proxy/session/connector.h"

#include <algorithm>
#include <cerrno>
#include <exception>

#include "proxy/base/clock.h"
#include "proxy/session/open_tls.h"

namespace stile::session {
namespace {

constexpr std::string_view as_connect = "CONNECT";

// A plain request whose head was read when no rule judged requests of its agent, and now one does.
bool lacks_facts(const Request& request) {
  const acl::Decision& decision = request.decision;
  const bool is_plain = request.scheme == acl::Scheme::http && !request.method.empty();
  if (!is_plain || request.facts || !decision.passes() || decision.literal) return false;
  const auto& inside = request.judged_by->inside;
  return decision.budget != nullptr ||
         (inside && inside->opens(acl::HostKey{decision.host}, decision.port));
}

// Gives other functions access to what a coroutine waits with for exactly its lifetime, also if
// memory for a wait runs out.
template <class T>
class Lend {
 public:
  Lend(T*& place, T& lent) noexcept : place_{place} { place = &lent; }
  ~Lend() { place_ = nullptr; }
  Lend(const Lend&) = delete;
  Lend& operator=(const Lend&) = delete;

 private:
  T*& place_;
};

}  // namespace

void Connector::on_cancel() noexcept {
  if (origin) origin.socket().interrupt();
  if (dialer_ != nullptr) dialer_->stop();
}

void Connector::decide(Request& request) {
  Context& context = client_.context;
  Peer& peer = client_.peer;
  const auto& snapshot = context.policy.get();
  const auto* agent = peer.in(*snapshot);
  request.judged_by = agent != nullptr ? *agent : nullptr;
  request.generation = snapshot->generation();
  request.is_stale = false;
  if (request.judged_by) peer.agent = request.judged_by;
  acl::Query query;
  query.agent = request.judged_by.get();
  query.budget_spent = peer.account->bytes_up.is_spent() || peer.account->bytes_down.is_spent();
  query.scheme = request.scheme;
  query.authority = acl::split_authority(request.authority);
  query.now = unix_micros();
  query.charged = request.charged.get();
  query.counted = request.counted.usage();
  query.source = peer.source();
  // A captured connection is decided as a CONNECT.
  const bool is_captured =
      peer.captured && request.scheme == acl::Scheme::tunnel && !request.is_inside;
  query.method = is_captured ? as_connect : std::string_view{request.method};
  query.path = request.path;
  query.inside = request.facts ? &*request.facts : nullptr;
  const std::vector<acl::Address> dialled(request.origin ? 1 : 0,
                                          request.origin.value_or(acl::Address{}));
  if (!request.addresses.empty()) {
    query.addresses = &request.addresses;
  } else if (request.origin) {
    query.addresses = &dialled;
  }
  acl::Decision& decision = request.decision;
  decision = acl::decide(query);
  // The agent was known at accept and has been removed since. The reason is the same whether
  // judge_again or the request's own next step notices it first.
  if (decision.reason == Reason::unknown_agent && peer.agent) decision.reason = Reason::revoked;
  if (lacks_facts(request)) {
    decision.verdict = acl::Verdict::deny;
    decision.reason = Reason::revoked;
  }
  if (const std::string* name = decision.logged_as()) peer.tally = context.tally(*name);
  if (decision.passes() && client_.is_draining()) {
    decision.verdict = acl::Verdict::deny;
    decision.reason = Reason::draining;
  }
}

Task<Connector::Reason> Connector::decide_or_ask(Request& request) {
  decide(request);
  if (request.decision.may_ask) {
    const Reason refused = co_await ask(request);
    if (refused != Reason::none) co_return refused;
  }
  co_return request.decision.passes() ? Reason::none : request.decision.reason;
}

Task<Connector::Reason> Connector::connect(Request& request, Reuse reuse) {
  const Reason refused = co_await decide_or_ask(request);
  if (refused != Reason::none) co_return refused;
  if (client_.context.audit.must_refuse()) co_return Reason::audit_unavailable;
  if (request.decision.is_opened && !request.is_inside) co_return Reason::none;
  request.down = {};
  request.down.draw_on(client_.peer.account->bytes_down);
  if (client_.stream.socket().is_dead()) co_return Reason::origin_timeout;
  client_.watch_for_loss(Reason::origin_timeout);
  Reason reason = charge(request);
  if (reason != Reason::none) reason = co_await wait_for_record(request, reason);
  is_reused_ = reason == Reason::none && reuse == Reuse::yes && take_kept(request);
  if (reason == Reason::none && !is_reused_) reason = co_await find_and_dial(request);
  client_.watch_for_loss(Reason::none);
  co_return reason;
}

// A person is asked, and the request waits for a policy that allows it. Every change is judged as a
// new request would be. None: it is allowed now.
Task<Connector::Reason> Connector::ask(Request& request) {
  Context& context = client_.context;
  AskBoard* board = context.shared.asks;
  if (board == nullptr) co_return request.decision.reason;
  if (client_.is_draining()) co_return Reason::draining;
  if (context.audit.must_refuse()) co_return Reason::audit_unavailable;
  const std::string source = client_.peer.source_text();
  request.ask = board->ask({*request.judged_by, request.decision.reason, scheme_text(request),
                            request.decision.host.text(), request.decision.port, request.method,
                            request.path, source, client_.peer.conn});
  if (!request.ask.is_held) co_return request.decision.reason;
  const AskHold hold{*board, request.judged_by->id, request.ask.id};
  Reason reason = request.decision.reason;
  const std::function<bool()> is_done = [&] {
    decide(request);
    reason = request.decision.reason;
    if (!request.decision.may_ask) return true;
    request.ask = board->look(*request.judged_by, request.ask.id);
    return request.ask.state != AskTicket::State::open;
  };
  // A tunnel whose client has ended its side is of no use; plain HTTP is answered still.
  const bool is_tunnel = request.scheme == acl::Scheme::tunnel && !request.is_inside;
  const Socket& socket = client_.stream.socket();
  if (socket.is_dead() || (is_tunnel && socket.has_hung_up())) co_return reason;
  client_.watch_for_loss(reason, is_tunnel ? Client::Loss::end_too : Client::Loss::only_lost);
  co_await wait_for_answer(request.ask.id, context.limits.ask_hold, is_done);
  client_.watch_for_loss(Reason::none);
  if (client_.is_cancelled()) co_return client_.cancelled();
  if (client_.is_draining()) co_return Reason::draining;
  if (!request.decision.passes()) co_return reason;
  request.begun = context.loop.now();  // a person's time is not the origin's
  co_return Reason::none;
}

Task<> Connector::wait_for_answer(const std::string& id, std::chrono::milliseconds most,
                                  const std::function<bool()>& is_done) {
  Asking asking{client_.context.loop, id, most};
  client_.context.asking.push_back(asking);
  const Lend lent{asking_, asking};
  for (bool ends = false; !ends;) {
    co_await client_.wait(asking.changed);
    asking.changed.reset();
    ends = client_.is_cancelled() || client_.is_draining() || is_done() || asking.is_over();
  }
}

// Only after this request itself has been allowed.
bool Connector::take_kept(Request& request) {
  if (request.decision.awaits_addresses) return false;
  Context& context = client_.context;
  auto kept = context.origins.take(client_.peer, request);
  if (!kept.stream ||
      !acl::may_dial(*request.judged_by, request.decision, kept.address, *context.own_addresses)) {
    return false;
  }
  request.origin = kept.address;
  request.trust = kept.trust;
  origin = std::move(kept.stream);
  return true;
}

void Connector::keep_origin(const Request& request) noexcept {
  try {
    client_.context.origins.keep(client_.peer, request, std::move(origin));
  } catch (const std::exception&) {
    origin.reset();  // no memory to keep it: the next request dials
  }
}

Task<Connector::Reason> Connector::find_and_dial(Request& request) {
  Context& context = client_.context;
  std::vector<acl::Address> addresses;
  if (request.decision.literal) {
    addresses.push_back(*request.decision.literal);
  } else {
    const std::string_view name = request.decision.host.text();
    dns::ResolvedPtr resolved = context.resolver.known(name);
    if (!resolved) {
      Reason failed = Reason::none;
      resolved = co_await look_up(name, failed);
      if (failed != Reason::none) co_return failed;
    }
    if (!resolved || resolved->addresses.empty()) co_return Reason::dns_failure;
    addresses = resolved->addresses;
  }
  if (request.decision.awaits_addresses) {
    request.addresses = addresses;
    decide(request);
    if (!request.decision.passes()) co_return request.decision.reason;
  }
  // The policy may have changed during the DNS lookup.
  if (const Reason changed = still_allowed(request); changed != Reason::none) co_return changed;
  std::erase_if(addresses, [&](const acl::Address& address) {
    return !acl::may_dial(*request.judged_by, request.decision, address, *context.own_addresses);
  });
  if (addresses.empty()) co_return Reason::address_forbidden;
  co_return co_await dial(request, net::interleave_families(std::move(addresses)));
}

Task<dns::ResolvedPtr> Connector::look_up(std::string_view name, Reason& failed) {
  dns::Resolver::Waiter waiter{client_.context.loop};
  if (!client_.context.resolver.ask(name, client_.peer.account, waiter)) {
    failed = Reason::rate_limited;
    co_return nullptr;
  }
  co_await client_.wait(waiter.event);
  failed = client_.cancelled();
  co_return waiter.result;
}

Task<Connector::Reason> Connector::dial(Request& request, std::vector<acl::Address> addresses) {
  Context& context = client_.context;
  net::Dialer dialer{context.loop, std::move(addresses), request.decision.port};
  client_.set_deadline(context.limits.connect_timeout, Reason::origin_timeout);
  dialer.start();
  {
    const Lend dialing{dialer_, dialer};
    co_await client_.wait(dialer.done);
  }
  client_.clear_deadline();
  if (client_.is_cancelled()) co_return client_.cancelled();
  if (!dialer.has_socket()) {
    co_return dialer.error() == ETIMEDOUT ? Reason::origin_timeout : Reason::origin_unreachable;
  }
  request.origin = dialer.address();
  origin = net::Stream{dialer.take_socket()};
  origin.socket().charge_to(client_.stream.socket().share());
  context.connect_times.observe(
      std::chrono::duration<double>(context.loop.now() - request.begun).count());
  if (request.is_inside) co_return co_await open_origin_tls(client_, request, origin);
  co_return Reason::none;
}

Task<Connector::Reason> Connector::connect_again(Request& request) {
  origin.reset();
  is_reused_ = false;
  if (still_allowed(request) != Reason::none) co_return Reason::revoked;
  std::vector<acl::Address> named(1, *request.origin);
  const Reason failed = co_await dial(request, std::move(named));
  if (failed != Reason::none) co_return failed;
  co_return still_allowed(request) == Reason::none ? Reason::none : Reason::revoked;
}

// A grant that counts requests counts this one, if that grant allows it; so does the budget of its
// host.
Connector::Reason Connector::charge(Request& request) {
  const acl::Grant* grant = request.decision.grant;
  request.up = {};
  request.up.draw_on(client_.peer.account->bytes_up);
  if (grant != nullptr) request.up.draw_on(grant->lease->bytes_up);
  request.up.expect();
  request.down.expect();
  if (grant != nullptr && request.charged != grant->lease) {
    // An open connection is not counted again when another grant takes it over.
    if (!request.wrote_open && grant->lease->requests.take(1) != 1) return Reason::host_not_allowed;
    request.charged = grant->lease;
  }
  return count_on_host(request);
}

Connector::Reason Connector::count_on_host(Request& request) {
  const acl::HostBudget* budget = request.decision.budget;
  const bool is_request = request.facts.has_value();  // not the tunnel that requests are in
  if (budget == nullptr || !is_request || request.wrote_open) return Reason::none;
  using Outcome = acl::HostCharge::Outcome;
  const Outcome outcome = request.counted.take(*budget, unix_micros());
  return outcome == Outcome::taken ? Reason::none : Reason::budget_exhausted;
}

// What it is charged on has something left, but that is not on record yet.
bool Connector::is_not_ready(const Request& request, Reason spent) {
  const acl::Decision& decision = request.decision;
  if (spent == Reason::host_not_allowed) return !decision.grant->lease->requests.is_spent();
  return spent == Reason::budget_exhausted && decision.budget != nullptr &&
         acl::fault_of(*decision.budget, unix_micros()).empty();
}

Task<Connector::Reason> Connector::wait_for_record(Request& request, Reason spent) {
  Reason reason = spent;
  while (reason != Reason::none && is_not_ready(request, reason)) {
    if (client_.is_cancelled()) co_return client_.cancelled();
    client_.set_deadline(client_.context.limits.connect_timeout, Reason::internal_error);
    co_await client_.wait_for_refill();
    client_.clear_deadline();
    if (client_.is_cancelled()) co_return client_.cancelled();
    decide(request);  // the grant may be gone
    if (!request.decision.passes()) co_return request.decision.reason;
    reason = charge(request);
  }
  co_return reason;
}

// A secret that was put in is still the agent's.
bool Connector::still_has_secrets(const Request& request) {
  const auto& allowed = request.decision.terms.secrets;
  return std::all_of(request.secrets.begin(), request.secrets.end(), [&](const std::string& name) {
    return std::any_of(allowed.begin(), allowed.end(), [&](const acl::AgentSecret* secret) {
      return secret->secret->name == name;
    });
  });
}

Connector::Reason Connector::still_allowed(Request& request) {
  const Context& context = client_.context;
  if (!request.is_stale && client_.context.policy.get()->generation() == request.generation) {
    return Reason::none;
  }
  const bool was_opened = request.decision.is_opened;
  decide(request);
  if (!request.decision.passes()) return request.decision.reason;
  // A sealed tunnel to a host that is opened now would pass unseen, and the other way round.
  if (request.decision.is_opened != was_opened || !still_has_secrets(request)) {
    return Reason::revoked;
  }
  if (const Reason spent = charge(request); spent != Reason::none) return spent;
  if (request.origin && !acl::may_dial(*request.judged_by, request.decision, *request.origin,
                                       *context.own_addresses)) {
    return Reason::address_forbidden;
  }
  if (request.hello_is_due) acl::judge_hello(*request.judged_by, request.hello, request.decision);
  return request.decision.passes() ? Reason::none : request.decision.reason;
}

}  // namespace stile::session
