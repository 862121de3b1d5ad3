// Session: serves one client connection, request by request, until it ends or becomes a tunnel.
#include "proxy/session/session.h"

#include <exception>

#include "proxy/base/log.h"
#include "proxy/session/captured.h"
#include "proxy/session/connect.h"
#include "proxy/session/http_exchange.h"
#include "proxy/session/rate.h"
#include "proxy/session/refuse.h"

namespace stile::session {
namespace {

log::Throttle internal_errors;

// Marks a request as the current one of its session.
class Current {
 public:
  Current(Request*& place, Request& request) noexcept : place_{place} { place = &request; }
  ~Current() { place_ = nullptr; }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

 private:
  Request*& place_;
};

}  // namespace

Session::Session(Context& context, SocketPtr client, Peer peer)
    : context_{context}, client_{context, std::move(client), std::move(peer)}, connector_{client_} {
  context_.live.push_back(*this);
}

void Session::start(Context& context, SocketPtr client, Peer peer) {
  own(std::unique_ptr<Session>{new Session{context, std::move(client), std::move(peer)}});
}

Detached Session::own(std::unique_ptr<Session> self) {
  try {
    co_await self->run();
    if (!self->client_.has_left() && !self->client_.stream.is_plain()) {
      self->client_.stream.end_output();  // TLS tells an end from a cut
    }
  } catch (const std::exception& problem) {
    internal_errors.warning("a connection was closed: ", problem.what());
  }
}

Task<> Session::run() {
  if (client_.peer.captured) {
    const bool goes_on = co_await serve_capture();
    if (!goes_on || client_.is_cancelled()) co_return;
  }
  bool served_one = false;
  for (bool goes_on = true; goes_on && !client_.is_cancelled(); served_one = true) {
    http::RequestHead head;
    const Reason bad = co_await read_head(head);
    client_.clear_deadline();
    if (!client_.in.empty()) {
      if (const auto pause = throttle_time(); pause.count() > 0) co_await throttle(pause);
    }
    if (bad != Reason::none) {
      // No byte of a request arrived: a kept connection that was not used again, or a scan.
      if (client_.in.empty() && (served_one || bad != Reason::header_timeout)) co_return;
      co_await refuse_head(bad);
      co_return;
    }
    if (client_.is_cancelled()) co_return;
    goes_on = co_await serve(head);
    if (client_.drains) co_return;
  }
}

Task<bool> Session::serve_capture() {
  if (const auto pause = throttle_time(); pause.count() > 0) co_await throttle(pause);
  if (client_.is_cancelled()) co_return false;
  Request request;
  const Current current{current_, request};
  request.begun = context_.loop.now();
  const bool goes_on = co_await serve_captured(client_, connector_, request);
  co_return goes_on;
}

Task<bool> Session::serve(http::RequestHead& head) {
  Request request;
  const Current current{current_, request};
  request.begun = context_.loop.now();
  if (head.is_connect && client_.inside.empty() && client_.captured.empty()) {
    const bool is_opened = co_await serve_connect(client_, connector_, request, head.target);
    co_return is_opened;
  }
  HttpExchange exchange{client_, connector_, request, head};
  const bool goes_on = co_await exchange.run();
  if (request.wrote_open) last_authority_ = std::move(request.authority);
  co_return goes_on;
}

Task<> Session::refuse_head(Reason reason) {
  Request request;
  request.begun = context_.loop.now();
  request.generation = context_.policy.get()->generation();
  request.head_fault = head_fault_;
  request.authority = client_.captured;
  if (!client_.captured.empty()) request.scheme = acl::Scheme::http;
  client_.clear_cancel();
  co_await refuse(client_, request, reason);
}

// From accept, or the end of the last answer, to the end of the head there is one absolute
// deadline, so that a client gains nothing by sending slowly.
Task<Session::Reason> Session::read_head(http::RequestHead& head) {
  std::string& in = client_.in;
  const std::size_t most = context_.limits.header_bytes;
  scanner_.reset();
  client_.set_deadline(context_.limits.header_timeout, Reason::header_timeout);
  for (bool first = in.empty();; first = false) {
    if (!first) {
      const auto found = scanner_.scan_request(in, head);
      if (found.state == http::ParseState::complete) {
        client_.head_bytes = found.consumed;
        co_return found.consumed > most ? Reason::header_too_large : Reason::none;
      }
      if (found.state == http::ParseState::bad) {
        head_fault_ = found.error;
        co_return Reason::bad_request;
      }
      if (in.size() >= most) co_return Reason::header_too_large;
    }
    const bool more = co_await client_.read_more();
    if (more) continue;
    // Cancelled, or the head is incomplete, or there is none.
    head_fault_ = "the connection ended before the request was complete";
    co_return client_.cancelled_or(in.empty() ? Reason::internal_error : Reason::bad_request);
  }
}

// How long the current request must wait for its turn under the agent's rate.
std::chrono::nanoseconds Session::throttle_time() const {
  const Peer& peer = client_.peer;
  const std::uint32_t per_second =
      peer.agent ? peer.agent->requests_per_second : context_.limits.requests_of_unknown;
  return reserve_request(*peer.account, per_second, context_.loop.now());
}

Task<> Session::throttle(std::chrono::nanoseconds pause) {
  Event due{context_.loop};
  struct Alarm final : Deadline {
    explicit Alarm(Event& event) : due{event} {}
    void on_deadline() override { due.fire(); }
    Event& due;
  } alarm{due};
  context_.loop.arm(alarm, std::chrono::ceil<std::chrono::milliseconds>(pause));
  co_await client_.wait(due);
}

void Session::judge_again(const acl::Snapshot& snapshot, bool all) {
  if (client_.has_left()) return;
  const Peer& peer = client_.peer;
  const auto* agent = peer.in(snapshot);
  if (peer.agent && agent == nullptr) return client_.cancel(Reason::revoked);
  if (agent == nullptr) return;
  if (current_ == nullptr) {
    const bool is_inside = !client_.inside.empty();
    const std::string& authority = is_inside ? client_.inside : last_authority_;
    if (authority.empty()) return;
    Request last;  // an idle connection is judged by its last use
    last.scheme = is_inside ? acl::Scheme::tunnel : acl::Scheme::http;
    last.authority = authority;
    connector_.decide(last);
    const acl::Decision& decision = last.decision;
    if (!decision.passes() || decision.is_opened != is_inside) client_.cancel(Reason::revoked);
    return;
  }
  if (!all && agent->get() == current_->judged_by.get()) return;
  // A request is judged again right before its first byte goes out. Judged now are a running
  // exchange, and one that dials: there may be more addresses to try.
  current_->is_stale = true;
  if (connector_.is_asking()) return connector_.look_again();
  if (!current_->wrote_open && !connector_.is_dialling()) return;
  const Reason now = connector_.still_allowed(*current_);
  if (now != Reason::none) client_.cancel(current_->wrote_open ? Reason::revoked : now);
}

void Session::drain() {
  client_.drains = true;
  if (connector_.is_asking()) return connector_.look_again();
  if (current_ != nullptr) return;
  // Waiting for a request that would only be refused.
  if (client_.in.empty()) client_.cancel(Reason::draining);
  // Waiting under the agent's rate: refuse now rather than later.
  client_.stop_waiting();
}

bool Session::describe(ConnectionInfo& info) const {
  if (current_ == nullptr || !current_->wrote_open) return false;
  info.agent = client_.peer.id();
  info.host = std::string{current_->decision.host.text()};
  info.port = current_->decision.port;
  if (current_->origin) info.origin = current_->origin->text();
  info.bytes_up = current_->bytes_up;
  info.bytes_down = current_->bytes_down;
  info.age_seconds = std::chrono::duration<double>(context_.loop.now() - current_->begun).count();
  return true;
}

}  // namespace stile::session
