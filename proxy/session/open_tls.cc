// open_tls: Stile as an end of TLS, towards the client of an opened tunnel and towards its origins.
#include "proxy/session/open_tls.h"

#include <utility>

#include "proxy/base/log.h"

namespace stile::session {
namespace {

using acl::Reason;
using metrics::TlsSide;

log::Throttle no_interceptor;

// False: it failed, or the request was cancelled.
Task<bool> finish_handshake(Client& client, Socket& socket, intercept::TlsLayer& tls) {
  for (;;) {
    const auto step = tls.handshake();
    if (step != intercept::TlsLayer::Step::wait) {
      co_return step == intercept::TlsLayer::Step::done;
    }
    if (tls.has_unsent()) {
      co_await socket.writable();
    } else {
      co_await socket.readable();
    }
    if (client.is_cancelled()) co_return false;
  }
}

}  // namespace

Task<Reason> open_client_tls(Client& client, const Request& request) {
  Context& context = client.context;
  const auto interceptor = context.shared.interceptor();
  if (!interceptor) {
    no_interceptor.warning("a tunnel was refused: there is no CA to open it with");
    co_return Reason::internal_error;
  }
  const std::string_view host = request.decision.host.text();
  Socket& socket = client.stream.socket();
  auto tls = interceptor->accept(socket, host, std::exchange(client.in, {}), context.leaves,
                                 context.loop.now());
  if (!tls) co_return Reason::internal_error;
  client.set_deadline(context.limits.client_hello_timeout, Reason::client_hello_timeout);
  const bool done = co_await finish_handshake(client, socket, *tls);
  client.clear_deadline();
  client.peer.tally->tls_handshake(TlsSide::client, done);
  if (client.is_cancelled()) co_return client.cancelled();
  if (!done) {
    const bool lacks_http1 = tls->lacks_http1();
    client.stream.put(std::move(tls));  // with the alert
    co_return lacks_http1 ? Reason::no_application_protocol : Reason::client_tls_failed;
  }
  client.inside = std::string{host} + ':' + std::to_string(request.decision.port);
  client.stream.put(std::move(tls));
  co_return Reason::none;
}

Task<Reason> open_origin_tls(Client& client, Request& request, net::Stream& origin) {
  Context& context = client.context;
  // That of now: the tunnel may be older than the trust in it.
  const auto interceptor = context.shared.interceptor();
  if (!interceptor) co_return Reason::internal_error;
  request.trust = interceptor->trust();
  const std::string_view host = request.decision.host.text();
  std::string session_key{client.peer.id()};
  session_key.append(1, ' ').append(host).append(1, ':').append(
      std::to_string(request.decision.port));
  auto tls = interceptor->connect(origin.socket(), host, std::move(session_key),
                                  context.origin_sessions, context.loop.now());
  if (!tls) co_return Reason::internal_error;
  client.set_deadline(context.limits.connect_timeout, Reason::origin_timeout);
  const bool done = co_await finish_handshake(client, origin.socket(), *tls);
  client.clear_deadline();
  client.peer.tally->tls_handshake(TlsSide::origin, done);
  if (client.is_cancelled()) co_return client.cancelled();
  if (!done) {
    static_cast<void>(tls->flush());  // tells the origin why
    co_return Reason::origin_certificate;
  }
  origin.put(std::move(tls));
  co_return Reason::none;
}

}  // namespace stile::session
