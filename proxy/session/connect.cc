// serve_connect: a CONNECT, from its head to a tunnel that relays or is opened.
#include "proxy/session/connect.h"

#include "proxy/session/open_tls.h"
#include "proxy/session/refuse.h"
#include "proxy/session/start_tunnel.h"
#include "proxy/session/tunnel.h"

namespace stile::session {
namespace {

using acl::Reason;

constexpr std::string_view established = "HTTP/1.1 200 Connection established\r\n\r\n";

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
  co_return co_await judge_and_log(client, connector, request);
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
