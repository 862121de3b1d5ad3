// refuse: a refusal's line in the log, then its answer to the client.
#include "proxy/session/refuse.h"

#include "proxy/session/refusal.h"
#include "proxy/tls/client_hello.h"

namespace stile::session {
namespace {

using acl::Reason;

// Time limit for an answer that the client does not read.
constexpr std::chrono::milliseconds answer_time{10000};
constexpr std::chrono::milliseconds alert_time{1000};

}  // namespace

Task<bool> refuse(Client& client, const Request& request, Reason reason, bool keep_alive) {
  const bool written =
      co_await client.context.log.deny(client.peer, request, reason, acl::status(reason));
  if (!written) reason = Reason::audit_unavailable;
  co_return co_await answer_refusal(client, request, reason, keep_alive);
}

Task<bool> answer_refusal(Client& client, const Request& request, Reason reason, bool keep_alive) {
  const Peer& peer = client.peer;
  Refusal refusal;
  refusal.reason = reason;
  refusal.agent = peer.id();
  refusal.host = shown_host(request);
  refusal.port = shown_port(request);
  refusal.scheme = request.scheme;
  refusal.fault = request.fault();
  if (reason == request.decision.reason) {
    refusal.retry_after_seconds = request.decision.retry_after_seconds;
  }
  if (peer.agent) {
    refusal.policy = peer.agent.get();
    refusal.contact = peer.agent->contact;
    refusal.granted_by =
        peer.agent->takes_grants() ? client.context.shared.granted_by : GrantedBy::nothing;
  }
  if (!request.ask.id.empty() && request.decision.may_ask && reason == request.decision.reason) {
    refusal.ask = &request.ask;
  }
  refusal.keep_alive = keep_alive;
  refusal.is_head = request.method == "HEAD";
  const std::string answer = write_refusal(refusal);
  client.set_deadline(answer_time, Reason::idle_timeout);
  const bool sent = co_await client.send(answer);
  if (sent && !keep_alive) co_await client.linger();
  co_return sent;
}

Task<> refuse_tunnel(Client& client, Request& request, Reason reason) {
  RequestLog& log = client.context.log;
  if (request.wrote_open) {
    static_cast<void>(co_await log.close(client.peer, request, reason, 200));
  } else {
    static_cast<void>(co_await log.deny(client.peer, request, reason, 200));
  }
  client.clear_cancel();
  client.set_deadline(alert_time, Reason::idle_timeout);
  const bool sent = co_await client.send(tls::access_denied_alert);
  if (sent) co_await client.linger();
}

}  // namespace stile::session
