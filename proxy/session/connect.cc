// serve_connect: a CONNECT, from its head to a tunnel that relays or is opened.
#include "proxy/session/connect.h"

#include "proxy/session/open_tls.h"
#include "proxy/session/refuse.h"
#include "proxy/session/tunnel.h"
#include "proxy/tls/client_hello.h"

namespace stile::session {
namespace {

using acl::Reason;

constexpr std::chrono::milliseconds handshake_alert_time{1000};
constexpr std::string_view established = "HTTP/1.1 200 Connection established\r\n\r\n";

// Gathers the hello in client.in. An invalid hello is only noted: observe mode lets it pass. A
// returned reason ends the tunnel: the client is gone, or the request was cancelled.
Task<Reason> read_hello(Client& client, Request& request, std::size_t& hello_bytes) {
  using State = acl::HelloFacts::State;
  tls::HelloReader reader;
  client.set_deadline(client.context.limits.client_hello_timeout, Reason::client_hello_timeout);
  for (;;) {
    const tls::Hello hello = reader.read(client.in);
    if (hello.state == tls::Hello::State::complete) {
      request.hello =
          acl::facts_of_hello(hello.has_sni, hello.sni, hello.has_ech, request.decision.host);
      request.sni = std::string{hello.sni};
      hello_bytes = hello.consumed;
      break;
    }
    if (hello.state == tls::Hello::State::not_tls ||
        client.in.size() > tls::HelloReader::max_stream_bytes) {
      request.hello.state = State::not_tls;
      break;
    }
    const bool more = co_await client.read_more();
    if (more) continue;
    if (client.cancelled() == Reason::client_hello_timeout) {
      client.clear_cancel();  // in observe mode it continues: the server may speak first
      request.hello.state = State::late;
      break;
    }
    // A FIN before the hello is complete ends the tunnel and frees its slot at once.
    co_return client.cancelled_or(Reason::not_tls);
  }
  client.clear_deadline();
  co_return Reason::none;
}

// Everything between the 200 and the first byte to the origin.
Task<Reason> open_tunnel(Client& client, Connector& connector, Request& request,
                         std::size_t& hello_bytes) {
  client.set_deadline(client.context.limits.client_hello_timeout, Reason::client_hello_timeout);
  const bool sent = co_await client.send(established);
  // A client that is gone still gets its line: the origin was requested and dialled.
  if (!sent) co_return client.cancelled_or(Reason::origin_timeout);
  if (request.decision.check_hello) {
    const Reason ended = co_await read_hello(client, request, hello_bytes);
    if (ended != Reason::none) co_return ended;
  }
  request.hello_is_due = true;
  const Reason refused = connector.still_allowed(request);
  if (refused != Reason::none) co_return refused;
  acl::judge_hello(*request.judged_by, request.hello, request.decision);
  if (!request.decision.passes()) co_return request.decision.reason;
  // Each request inside has lines of its own.
  if (request.decision.is_opened) co_return Reason::none;
  const bool written = co_await client.context.log.open(client.peer, request);
  if (!written) co_return Reason::audit_unavailable;
  // The policy may have changed while the line was written.
  if (client.is_cancelled() || connector.still_allowed(request) != Reason::none) {
    co_return Reason::revoked;
  }
  co_return Reason::none;
}

// The line, then the alert that TLS has made.
Task<> end_handshake(Client& client, const Request& request, Reason reason) {
  static_cast<void>(co_await client.context.log.deny(client.peer, request, reason, 200));
  client.clear_cancel();
  client.set_deadline(handshake_alert_time, Reason::idle_timeout);
  const bool sent = co_await client.send({});
  client.stream.put(nullptr);  // nothing more is read or written inside
  if (sent) co_await client.linger();
}

}  // namespace

Task<bool> serve_connect(Client& client, Connector& connector, Request& request,
                         std::string_view target) {
  request.method = "CONNECT";
  request.authority = std::string{target};
  client.in.erase(0, client.head_bytes);  // from here on, the tunnel's first bytes
  client.head_bytes = 0;
  Reason reason = co_await connector.connect(request);
  // After the 200 no status can be sent any more.
  if (reason == Reason::none && client.context.audit.must_refuse()) {
    reason = Reason::audit_unavailable;
  }
  if (reason != Reason::none) {
    client.clear_cancel();
    co_await refuse(client, request, reason);
    co_return false;
  }
  std::size_t hello_bytes = 0;
  const bool is_opened = request.decision.is_opened;
  reason = co_await open_tunnel(client, connector, request, hello_bytes);
  if (reason != Reason::none) {
    co_await refuse_tunnel(client, request, reason);
    co_return false;
  }
  client.clear_deadline();
  if (is_opened) {
    reason = co_await open_client_tls(client, request);
    if (reason != Reason::none) co_await end_handshake(client, request, reason);
    co_return reason == Reason::none;
  }
  Tunnel::start(client.context, std::move(client.peer), request, client.stream.take_socket(),
                connector.origin.take_socket(), client.in, hello_bytes);
  co_return false;
}

}  // namespace stile::session
