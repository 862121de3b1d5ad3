// Request: what is known of one request, and the audit records made from it.
#include "proxy/session/request.h"

#include "proxy/base/clock.h"
#include "proxy/net/sockaddr.h"

namespace stile::session {

acl::Reason judge_hello(const acl::AgentPolicy& agent, const acl::Decision& decision,
                        const HelloSeen& hello) noexcept {
  using acl::Reason;
  if (!decision.check_hello) return Reason::none;
  if (!hello.was_read) return Reason::not_tls;
  if (hello.problem != Reason::none) return hello.problem;
  if (hello.has_ech && !agent.allow_ech) return Reason::ech_refused;
  if (decision.literal) return hello.has_sni ? Reason::sni_mismatch : Reason::none;
  if (!hello.has_sni) return Reason::sni_missing;
  return hello.names_host ? Reason::none : Reason::sni_mismatch;
}

std::string_view shown_host(const Request& request) noexcept {
  if (const std::string_view host = request.decision.host.text(); !host.empty()) return host;
  std::string_view raw = acl::split_authority(request.authority).host;
  raw = raw.substr(raw.rfind('@') + 1);
  return raw.substr(0, raw.find_first_of("/?#\\"));
}

RequestRecord::RequestRecord(audit::Event event, const Peer& peer, const Request& request)
    : source_{peer.source_text()} {
  const acl::Decision& decision = request.decision;
  record.event = event;
  record.time_us = unix_micros();
  record.agent = peer.id();
  record.src = source_;
  record.conn = peer.conn;
  record.method = request.method;
  if (!request.authority.empty()) {
    record.scheme = request.scheme == acl::Scheme::tunnel ? "connect" : "http";
    record.host = shown_host(request);
  }
  record.port = decision.port;
  record.path = request.path;
  if (decision.rule) {
    rule_ = decision.rule.describe();
    record.rule = rule_;
  } else if (decision.access_rule != nullptr) {
    record.rule = decision.access_rule->text;
  }
  if (request.origin) {
    origin_ = net::endpoint_text(*request.origin, decision.port);
    record.origin = origin_;
  }
  record.sni = request.sni;
  record.stripped.assign(request.stripped.begin(), request.stripped.end());
  record.policy = request.generation;
}

}  // namespace stile::session
