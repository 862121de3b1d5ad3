// Session, the CONNECT half: from the decision to a tunnel that relays.
#include <sys/socket.h>

#include <cerrno>

#include "base/ascii.h"
#include "proxy/http/head.h"
#include "proxy/net/dialer.h"
#include "proxy/session/session.h"
#include "proxy/session/tunnel.h"
#include "proxy/tls/client_hello.h"

namespace stile::session {
namespace {

constexpr std::string_view established = "HTTP/1.1 200 Connection established\r\n\r\n";

// Where cancel() finds the dialer; no longer than it is there, also when memory for a wait is not.
class Dialing {
 public:
  Dialing(net::Dialer*& place, net::Dialer& dialer) noexcept : place_{place} { place = &dialer; }
  ~Dialing() { place_ = nullptr; }
  Dialing(const Dialing&) = delete;
  Dialing& operator=(const Dialing&) = delete;

 private:
  net::Dialer*& place_;
};

}  // namespace

Task<> Session::serve_connect(http::RequestHead& head) {
  Request request;
  current_ = &request;
  request.begun = context_.loop.now();
  request.method = "CONNECT";
  request.authority = std::string{head.target};
  in_.erase(0, head_bytes_);  // from here on, the tunnel's first bytes
  head_bytes_ = 0;
  Reason reason = co_await connect_to_origin(request);
  if (reason == Reason::none) {
    set_deadline(context_.limits.client_hello_timeout, Reason::client_hello_timeout);
    const bool sent = co_await send(*client_, established);
    // A client that is gone gets its line all the same: the origin was asked for and dialled.
    reason = is_cancelled() ? cancelled_ : Reason::origin_timeout;
    if (sent) reason = co_await open_tunnel(request);
    if (reason != Reason::none) co_await refuse_tunnel(request, reason);
  } else {
    cancelled_ = Reason::none;
    co_await refuse(request, reason);
  }
  current_ = nullptr;
}

// decide → resolve → decide_address → dial; shared with plain HTTP.
Task<Session::Reason> Session::connect_to_origin(Request& request) {
  decide(request);
  if (!request.decision.passes()) co_return request.decision.reason;
  request.down = {};
  request.down.draw_on(peer_.account->bytes_down);
  if (client_->is_dead()) co_return Reason::origin_timeout;
  client_->watch(this);
  Reason reason = co_await charge_first(request);
  if (reason == Reason::none) reason = co_await find_origin(request);
  client_->watch(nullptr);
  co_return reason;
}

Task<Session::Reason> Session::find_origin(Request& request) {
  std::vector<acl::Address> addresses;
  if (request.decision.literal) {
    addresses.push_back(*request.decision.literal);
  } else {
    const Reason failed = co_await resolve(request, addresses);
    if (failed != Reason::none) co_return failed;
  }
  if (request.decision.awaits_addresses) {
    request.addresses = addresses;
    decide(request);
    if (!request.decision.passes()) co_return request.decision.reason;
  }
  // The policy may have changed while the servers were asked.
  if (const Reason changed = still_allowed(request); changed != Reason::none) co_return changed;
  std::erase_if(addresses, [&](const acl::Address& address) {
    return !acl::may_dial(*request.judged_by, request.decision, address, *context_.own_addresses);
  });
  if (addresses.empty()) co_return Reason::address_forbidden;
  co_return co_await dial(request, net::interleave_families(std::move(addresses)));
}

Task<Session::Reason> Session::resolve(const Request& request,
                                       std::vector<acl::Address>& addresses) {
  const std::string_view name = request.decision.host.text();
  dns::ResolvedPtr resolved = context_.resolver.known(name);
  if (!resolved) {
    dns::Resolver::Waiter waiter{context_.loop};
    if (!context_.resolver.ask(name, peer_.account, waiter)) co_return Reason::rate_limited;
    co_await wait(waiter.event);
    if (is_cancelled()) co_return cancelled_;
    resolved = waiter.result;
  }
  if (!resolved || resolved->addresses.empty()) co_return Reason::dns_failure;
  addresses = resolved->addresses;
  co_return Reason::none;
}

Task<Session::Reason> Session::dial(Request& request, std::vector<acl::Address> addresses) {
  net::Dialer dialer{context_.loop, std::move(addresses), request.decision.port};
  set_deadline(context_.limits.connect_timeout, Reason::origin_timeout);
  dialer.start();
  {
    const Dialing dialing{dialer_, dialer};
    co_await wait(dialer.done);
  }
  disarm();
  if (is_cancelled()) co_return cancelled_;
  if (!dialer.has_socket()) {
    co_return dialer.error() == ETIMEDOUT ? Reason::origin_timeout : Reason::origin_unreachable;
  }
  request.origin = dialer.address();
  origin_ = dialer.take_socket();
  origin_->charge_to(client_->share());
  context_.connect_times.observe(
      std::chrono::duration<double>(context_.loop.now() - request.begun).count());
  co_return Reason::none;
}

// read_hello → check_sni → record → relay. Nothing has gone to the origin before.
Task<Session::Reason> Session::open_tunnel(Request& request) {
  std::size_t hello_bytes = 0;
  if (request.decision.check_hello) {
    const Reason ended = co_await read_hello(request, hello_bytes);
    if (ended != Reason::none) co_return ended;
  }
  const Reason changed = still_allowed(request);
  if (changed != Reason::none) co_return changed;
  const Reason bad = judge_hello(*request.judged_by, request.decision, request.hello);
  if (bad != Reason::none) {
    if (request.judged_by->mode != acl::Mode::observe) co_return bad;
    if (request.would_deny == Reason::none) request.would_deny = bad;
  }
  const bool written = co_await write_open(request);
  if (!written) co_return Reason::audit_unavailable;
  // The policy may have changed while the line was written.
  const Reason late = is_cancelled() ? cancelled_ : still_allowed(request);
  if (late != Reason::none) co_return Reason::revoked;
  become_tunnel(request, hello_bytes);
  co_return Reason::none;
}

// Gathers the hello in `in_`. What is wrong with it is only noted: observe mode lets it pass. Ends
// the tunnel by itself only if the client goes.
Task<Session::Reason> Session::read_hello(Request& request, std::size_t& hello_bytes) {
  tls::HelloReader reader;
  HelloSeen& seen = request.hello;
  seen = {.was_read = true};
  set_deadline(context_.limits.client_hello_timeout, Reason::client_hello_timeout);
  for (;;) {
    const tls::Hello hello = reader.read(in_);
    if (hello.state == tls::Hello::State::complete) {
      seen.has_sni = hello.has_sni;
      seen.has_ech = hello.has_ech;
      seen.names_host =
          hello.has_sni && equal_ignoring_case(hello.sni, request.decision.host.text());
      request.sni = std::string{hello.sni};
      hello_bytes = hello.consumed;
      break;
    }
    if (hello.state == tls::Hello::State::not_tls ||
        in_.size() > tls::HelloReader::max_stream_bytes) {
      seen.problem = Reason::not_tls;
      break;
    }
    const bool more = co_await read_more();
    if (!more) {
      if (cancelled_ == Reason::client_hello_timeout) {
        cancelled_ = Reason::none;  // in observe mode it goes on: the server may be first to speak
        seen.problem = Reason::client_hello_timeout;
        break;
      }
      if (is_cancelled()) co_return cancelled_;
      // A FIN before it is complete ends the tunnel and frees its place at once.
      co_return Reason::not_tls;
    }
  }
  disarm();
  co_return Reason::none;
}

// A client that is gone while the session waits for the origin, or the origin's answer, frees its
// place at once.
void Session::on_ready(Socket& socket) {
  if (socket.is_dead()) {
    const bool is_open = current_ != nullptr && current_->wrote_open;
    cancel(is_open ? Reason::idle_timeout : Reason::origin_timeout);
  }
  socket.wake();
}

void Session::become_tunnel(Request& request, std::size_t hello_bytes) {
  disarm();
  is_tunnel_ = true;
  Tunnel::start(context_, std::move(peer_), request, std::move(client_), std::move(origin_), in_,
                hello_bytes);
}

Task<> Session::refuse_tunnel(Request& request, Reason reason) {
  RequestRecord line{request.wrote_open ? audit::Event::close : audit::Event::deny, peer_, request};
  line.record.verdict = acl::Verdict::deny;
  line.record.reason = reason;
  line.record.status = 200;
  if (request.wrote_open) {
    line.record.bytes_up = line.record.bytes_down = 0;
  } else {
    peer_.tally->request(metrics::Method::connect, acl::Verdict::deny, reason);
  }
  static_cast<void>(co_await context_.audit.write(line.record));
  cancelled_ = Reason::none;
  set_deadline(std::chrono::milliseconds{1000}, Reason::idle_timeout);
  const bool sent = co_await send(*client_, tls::access_denied_alert);
  if (sent) co_await linger();
}

}  // namespace stile::session
