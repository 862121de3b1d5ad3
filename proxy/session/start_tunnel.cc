// start_tunnel: the phases between the decision and a tunnel that CONNECT and captured connections
// share.
#include "proxy/session/start_tunnel.h"

#include "proxy/tls/client_hello.h"

namespace stile::session {

using acl::Reason;

namespace {

constexpr std::chrono::milliseconds handshake_alert_time{1000};

}  // namespace

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

Task<Reason> judge_and_log(Client& client, Connector& connector, Request& request) {
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

Task<> end_handshake(Client& client, const Request& request, Reason reason) {
  static_cast<void>(co_await client.context.log.deny(client.peer, request, reason, 200));
  client.clear_cancel();
  client.set_deadline(handshake_alert_time, Reason::idle_timeout);
  const bool sent = co_await client.send({});
  client.stream.put(nullptr);  // nothing more is read or written inside
  if (sent) co_await client.linger();
}

}  // namespace stile::session
