// Session: one client connection, from accept until it ends or becomes a tunnel.
#include "proxy/session/session.h"

#include <sys/socket.h>

#include <algorithm>
#include <exception>

#include "proxy/base/clock.h"
#include "proxy/base/log.h"
#include "proxy/session/http_exchange.h"
#include "proxy/session/rate.h"
#include "proxy/session/refusal.h"

namespace stile::session {
namespace {

constexpr std::size_t linger_bytes = 256 * 1024;
constexpr std::chrono::milliseconds linger_time{1000};
// For an answer that the client does not read.
constexpr std::chrono::milliseconds answer_time{10000};

log::Throttle internal_errors;

}  // namespace

Session::Session(Context& context, SocketPtr client, Peer peer)
    : context_{context},
      peer_{std::move(peer)},
      client_{std::move(client)},
      in_{context.buffers.take()} {
  context_.live.push_back(*this);
}

void Session::start(Context& context, SocketPtr client, Peer peer) {
  own(std::unique_ptr<Session>{new Session{context, std::move(client), std::move(peer)}});
}

Detached Session::own(std::unique_ptr<Session> self) {
  try {
    co_await self->run();
  } catch (const std::exception& problem) {
    internal_errors.warning("a connection was closed: ", problem.what());
  }
}

Task<> Session::run() {
  while (!is_cancelled()) {
    http::RequestHead head;
    const Reason bad = co_await read_head(head);
    disarm();
    if (const auto pause = throttle_time(); pause.count() > 0) co_await throttle(pause);
    if (bad != Reason::none) {
      // Nothing of a request was there: a kept connection that was not used again, or a scan.
      if (in_.empty() && (served_one_ || bad != Reason::header_timeout)) co_return;
      Request request;
      request.begun = context_.loop.now();
      request.generation = context_.policy.get()->generation();
      request.problem = head_problem_;
      cancelled_ = Reason::none;
      co_await refuse(request, bad);
      co_return;
    }
    if (is_cancelled()) co_return;
    if (head.is_connect) {
      co_await serve_connect(head);
      co_return;
    }
    HttpExchange exchange{*this, head};
    const bool goes_on = co_await exchange.run();
    if (!goes_on) co_return;
    served_one_ = true;
    if (drain_) co_return;
  }
}

// From accept, or the end of the last answer, to the end of the head: one absolute deadline, so
// that a client that dribbles gains nothing.
Task<Session::Reason> Session::read_head(http::RequestHead& head) {
  scanner_.reset();
  set_deadline(context_.limits.header_timeout, Reason::header_timeout);
  for (bool first = in_.empty();; first = false) {
    if (!first) {
      const auto found = scanner_.scan_request(in_, head);
      if (found.state == http::ParseState::complete) {
        disarm();
        head_bytes_ = found.consumed;
        if (head_bytes_ > context_.limits.header_bytes) co_return Reason::header_too_large;
        co_return Reason::none;
      }
      if (found.state == http::ParseState::bad) {
        head_problem_ = found.error;
        co_return Reason::bad_request;
      }
      if (in_.size() >= context_.limits.header_bytes) co_return Reason::header_too_large;
    }
    const bool more = co_await read_more();
    if (!more) {
      if (cancelled_ != Reason::none) co_return cancelled_;
      if (!in_.empty()) co_return Reason::bad_request;  // the head ends in the middle
      co_return Reason::internal_error;
    }
  }
}

Task<bool> Session::read_more() {
  co_await client_->readable();
  if (is_cancelled()) co_return false;
  auto& buffer = context_.relay.buffer;
  const auto got = client_->read(buffer.data(), buffer.size());
  if (got.would_block) co_return true;
  if (got.bytes <= 0) co_return false;
  in_.append(buffer.data(), static_cast<std::size_t>(got.bytes));
  co_return true;
}

// How long the request at hand has to wait for its turn under the agent's rate.
std::chrono::nanoseconds Session::throttle_time() {
  if (in_.empty()) return {};
  const std::uint32_t per_second =
      peer_.agent ? peer_.agent->requests_per_second : context_.limits.requests_of_unknown;
  return reserve_request(*peer_.account, per_second, context_.loop.now());
}

Task<> Session::throttle(std::chrono::nanoseconds pause) {
  Event due{context_.loop};
  struct Alarm final : Deadline {
    explicit Alarm(Event& event) : due{event} {}
    void on_deadline() override { due.fire(); }
    Event& due;
  } alarm{due};
  context_.loop.arm(alarm, std::chrono::ceil<std::chrono::milliseconds>(pause));
  co_await wait(due);
}

void Session::decide(Request& request) {
  const auto& snapshot = context_.policy.get();
  const auto* agent = peer_.in(*snapshot);
  request.judged_by = agent != nullptr ? *agent : nullptr;
  request.generation = snapshot->generation();
  request.is_stale = false;
  if (request.judged_by) peer_.agent = request.judged_by;
  acl::Query query;
  query.agent = request.judged_by.get();
  query.budget_spent =
      peer_.account->bytes_up.is_spent() || peer_.account->bytes_down.is_spent();
  query.scheme = request.scheme;
  query.authority = acl::split_authority(request.authority);
  query.now = unix_micros();
  query.charged = request.charged.get();
  query.source = peer_.source();
  query.method = request.method;
  query.path = request.path;
  const std::vector<acl::Address> dialled(request.origin ? 1 : 0,
                                          request.origin.value_or(acl::Address{}));
  if (!request.addresses.empty()) {
    query.addresses = &request.addresses;
  } else if (request.origin) {
    query.addresses = &dialled;
  }
  request.decision = acl::decide(query);
  // Known when it came, and removed since: whether the round of judge_again or its own next step
  // notices first, the reason is the same.
  if (request.decision.reason == Reason::unknown_agent && peer_.agent) {
    request.decision.reason = Reason::revoked;
  }
  if (const auto* rule = request.decision.access_rule) peer_.tally = context_.tally(rule->agent);
  request.would_deny =
      request.decision.verdict == acl::Verdict::would_deny ? request.decision.reason : Reason::none;
  if (request.decision.passes() &&
      (drain_ || context_.shared.draining.load(std::memory_order_relaxed))) {
    request.decision.verdict = acl::Verdict::deny;
    request.decision.reason = Reason::draining;
  }
}

// A grant that counts requests counts this one, if it is the grant that lets it through.
Session::Reason Session::charge(Request& request) {
  const acl::Grant* grant = request.decision.grant;
  request.up = {};
  request.up.draw_on(peer_.account->bytes_up);
  if (grant != nullptr) request.up.draw_on(grant->lease->bytes_up);
  request.up.expect();
  request.down.expect();
  if (grant == nullptr || request.charged == grant->lease) return Reason::none;
  // What is open already is no opening when another grant takes it over.
  if (!request.wrote_open && grant->lease->requests.take(1) != 1) return Reason::host_not_allowed;
  request.charged = grant->lease;
  return Reason::none;
}

// As above, and waits while what is left of the grant's requests is not on record yet.
Task<Session::Reason> Session::charge_first(Request& request) {
  for (;;) {
    const Reason reason = charge(request);
    if (reason == Reason::none || request.decision.grant->lease->requests.is_spent()) {
      co_return reason;
    }
    if (is_cancelled()) co_return cancelled_;
    set_deadline(context_.limits.connect_timeout, Reason::internal_error);
    co_await wait_for_refill();
    disarm();
    if (is_cancelled()) co_return cancelled_;
    decide(request);  // the grant may be gone
    if (!request.decision.passes()) co_return request.decision.reason;
  }
}

Session::Reason Session::still_allowed(Request& request) {
  if (!request.is_stale && context_.policy.get()->generation() == request.generation) {
    return Reason::none;
  }
  decide(request);
  if (!request.decision.passes()) return request.decision.reason;
  if (const Reason spent = charge(request); spent != Reason::none) return spent;
  if (request.origin && !acl::may_dial(*request.judged_by, request.decision, *request.origin,
                                       *context_.own_addresses)) {
    return Reason::address_forbidden;
  }
  return Reason::none;
}

// The line that lets the bytes out.
Task<bool> Session::write_open(Request& request) {
  RequestRecord line{audit::Event::open, peer_, request};
  const Outcome outcome = outcome_at_end(request.would_deny, Reason::none);
  line.record.verdict = outcome.verdict;
  line.record.reason = outcome.reason;
  const bool written = co_await context_.audit.write(line.record);
  if (!written) co_return false;
  request.wrote_open = true;
  peer_.tally->request(metrics::method_of(request.method), *line.record.verdict,
                       request.would_deny);
  co_return true;
}

Task<bool> Session::refuse(Request& request, Reason reason, bool keep_alive) {
  request.decision.verdict = acl::Verdict::deny;
  request.decision.reason = reason;
  RequestRecord line{audit::Event::deny, peer_, request};
  line.record.verdict = acl::Verdict::deny;
  line.record.reason = reason;
  line.record.status = acl::status(reason);
  peer_.tally->request(metrics::method_of(request.method), acl::Verdict::deny, reason);
  const bool written = co_await context_.audit.write(line.record);
  if (!written) reason = Reason::audit_unavailable;
  co_return co_await answer_refusal(request, reason, keep_alive);
}

Task<bool> Session::answer_refusal(const Request& request, Reason reason, bool keep_alive) {
  Refusal refusal;
  refusal.reason = reason;
  refusal.agent = peer_.id();
  refusal.host = shown_host(request);
  refusal.port = request.decision.port;
  refusal.problem = request.problem;
  refusal.scheme = request.scheme;
  if (peer_.agent) {
    refusal.contact = peer_.agent->contact;
    refusal.takes_grants = !peer_.agent->access;
  }
  refusal.keep_alive = keep_alive;
  refusal.is_head = request.method == "HEAD";
  const std::string answer = write_refusal(refusal);
  set_deadline(answer_time, Reason::idle_timeout);
  const bool sent = co_await send(*client_, answer);
  if (sent && !keep_alive) co_await linger();
  co_return sent;
}

// Closing with unread bytes in the socket resets it, and the client may lose the answer. So what
// the client still sends is read, within bounds; nothing to read, nothing to wait for.
Task<> Session::linger() {
  if (!client_->is_readable() && in_.size() <= head_bytes_) co_return;
  ::shutdown(client_->fd(), SHUT_WR);
  set_deadline(linger_time, Reason::idle_timeout);
  auto& buffer = context_.relay.buffer;
  for (std::size_t left = linger_bytes; left > 0;) {
    co_await client_->readable();
    if (is_cancelled()) co_return;
    const auto got = client_->read(buffer.data(), std::min(left, buffer.size()));
    if (got.would_block) continue;
    if (got.bytes <= 0) co_return;
    left -= static_cast<std::size_t>(got.bytes);
  }
}

Task<bool> Session::send(Socket& socket, std::string_view bytes, std::uint64_t* count) {
  while (!bytes.empty()) {
    if (!socket.is_writable()) co_await socket.writable();
    if (is_cancelled()) co_return false;
    const auto sent = socket.write(bytes.data(), bytes.size());
    if (sent.would_block) continue;
    if (sent.bytes < 0) co_return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent.bytes));
    if (count != nullptr) *count += static_cast<std::size_t>(sent.bytes);
  }
  co_return true;
}

void Session::cancel(Reason reason) {
  if (is_tunnel_ || is_cancelled()) return;
  cancelled_ = reason;
  client_->interrupt();
  if (origin_) origin_->interrupt();
  if (dialer_ != nullptr) dialer_->stop();
  if (waiting_for_ != nullptr) waiting_for_->fire();
  context_.paused.wake();  // this one may be among them
}

void Session::set_deadline(std::chrono::milliseconds after, Reason reason) {
  deadline_reason_ = reason;
  context_.loop.arm(*this, after);
}

Task<> Session::wait(Event& event) {
  waiting_for_ = &event;
  if (!is_cancelled()) co_await event;
  waiting_for_ = nullptr;
}

Task<> Session::wait_for_refill() {
  struct Pause final : net::Paused {
    explicit Pause(Loop& loop) : event{loop} {}
    void on_refill() override { event.fire(); }
    Event event;
  } pause{context_.loop};
  context_.paused.add(pause);
  co_await pause.event;
}

void Session::judge_again(const acl::Snapshot& snapshot, bool all) {
  const auto* agent = peer_.in(snapshot);
  if (peer_.agent && agent == nullptr) return cancel(Reason::revoked);
  if (current_ == nullptr && agent != nullptr && !kept_authority_.empty()) {
    Request last;  // an idle connection goes with what it was used for
    last.scheme = acl::Scheme::http;
    last.authority = kept_authority_;
    decide(last);
    if (!last.decision.passes()) return cancel(Reason::revoked);
  }
  if (current_ == nullptr || agent == nullptr) return;
  if (!all && agent->get() == current_->judged_by.get()) return;
  // A request before its first byte is judged again when it gets there. Judged now are an exchange
  // that runs, and one that dials: there may be more addresses to try.
  current_->is_stale = true;
  if (!current_->wrote_open && dialer_ == nullptr) return;
  const Reason now = still_allowed(*current_);
  if (now != Reason::none) cancel(current_->wrote_open ? Reason::revoked : now);
}

void Session::drain() {
  drain_ = true;
  // Waiting for a request that would only be refused.
  if (current_ == nullptr && in_.empty()) cancel(Reason::draining);
  // Waiting for its turn under the agent's rate: refused now as well as later.
  if (current_ == nullptr && waiting_for_ != nullptr) waiting_for_->fire();
}

bool Session::describe(ConnectionInfo& info) const {
  if (current_ == nullptr || !current_->wrote_open) return false;
  info.agent = peer_.id();
  info.host = std::string{current_->decision.host.text()};
  info.port = current_->decision.port;
  if (current_->origin) info.origin = current_->origin->text();
  info.bytes_up = current_->bytes_up;
  info.bytes_down = current_->bytes_down;
  info.age_seconds = std::chrono::duration<double>(context_.loop.now() - current_->begun).count();
  return true;
}

}  // namespace stile::session
