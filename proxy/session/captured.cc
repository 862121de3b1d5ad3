// serve_captured: a connection to an address that stands for a name.
#include "proxy/session/captured.h"

#include "acl/decide_name.h"
#include "proxy/base/clock.h"
#include "proxy/session/open_tls.h"
#include "proxy/session/refuse.h"
#include "proxy/session/start_tunnel.h"
#include "proxy/session/tunnel.h"

namespace stile::session {
namespace {

using acl::Reason;

// Such a client expects no answer of a proxy. If it has begun with TLS and Stile refuses, its
// library gets an alert; otherwise the connection is reset.
Task<bool> refuse_captured(Client& client, Request& request, Reason reason) {
  const bool is_failure = reason == Reason::origin_unreachable ||
                          reason == Reason::origin_timeout || reason == Reason::dns_failure;
  if (request.hello.state == acl::HelloFacts::State::read && !is_failure) {
    co_await refuse_tunnel(client, request, reason);
    co_return false;
  }
  RequestLog& log = client.context.log;
  if (request.wrote_open) {
    static_cast<void>(co_await log.close(client.peer, request, reason, acl::status(reason)));
  } else {
    static_cast<void>(co_await log.deny(client.peer, request, reason, acl::status(reason)));
  }
  client.stream.reset_when_closed();
  co_return false;
}

bool carries_http(const Client& client) {
  const auto& agent = client.peer.agent;
  const Captured& to = *client.peer.captured;
  if (!agent || !to.stand_in) return false;
  const acl::HostParse name = acl::parse_host(to.stand_in->name);
  return name.kind == acl::HostParse::Kind::name &&
         acl::speaks_http(*agent, name.host, to.port, unix_micros());
}

// Steps 1 to 7, and the hello, before anything is looked up or dialled.
Task<Reason> decide_and_read_hello(Client& client, Connector& connector, Request& request,
                                   std::size_t& hello_bytes) {
  const Reason refused = co_await connector.decide_or_ask(request);
  if (refused != Reason::none) co_return refused;
  // It is dialled by name only. An address of this subnet means nothing elsewhere, whatever
  // `allow_ip` says.
  if (!client.peer.captured->stand_in) co_return Reason::ip_literal;
  if (client.context.audit.must_refuse()) co_return Reason::audit_unavailable;
  if (!request.decision.check_hello) co_return Reason::none;
  const Reason ended = co_await read_hello(client, request, hello_bytes);
  if (ended != Reason::none) co_return ended;
  acl::judge_hello(*request.judged_by, request.hello, request.decision);
  co_return request.decision.passes() ? Reason::none : request.decision.reason;
}

Task<Reason> connect_tunnel(Client& client, Connector& connector, Request& request) {
  Reason reason = co_await connector.connect(request);
  if (reason != Reason::none) co_return reason;
  // The policy has changed since: nothing was dialled for a tunnel that is opened.
  if (request.decision.is_opened) co_return Reason::revoked;
  reason = co_await judge_and_log(client, connector, request);
  co_return reason;
}

}  // namespace

Task<bool> serve_captured(Client& client, Connector& connector, Request& request) {
  const Captured& to = *client.peer.captured;
  const std::string name = to.stand_in ? to.stand_in->name : to.address.text();
  request.method = "TCP";
  request.authority = name + ':' + std::to_string(to.port);
  if (carries_http(client)) {
    client.captured = request.authority;
    co_return true;
  }
  std::size_t hello_bytes = 0;
  Reason reason = co_await decide_and_read_hello(client, connector, request, hello_bytes);
  const bool is_opened = request.decision.is_opened;
  if (reason == Reason::none && is_opened) {
    reason = co_await judge_and_log(client, connector, request);
  } else if (reason == Reason::none) {
    reason = co_await connect_tunnel(client, connector, request);
  }
  if (reason != Reason::none) {
    client.clear_cancel();
    co_return co_await refuse_captured(client, request, reason);
  }
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
