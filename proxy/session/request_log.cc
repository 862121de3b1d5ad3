// RequestLog: writes every audit line of a request, and counts it.
#include "proxy/session/request_log.h"

#include <exception>
#include <utility>

#include "proxy/base/clock.h"
#include "proxy/base/log.h"
#include "proxy/net/sockaddr.h"

namespace stile::session {
namespace {

using acl::Reason;

log::Throttle unwritten_ends;

LineTexts texts_of(const Peer& peer, const Request& request) {
  const acl::Decision& decision = request.decision;
  return {peer.source_text(),
          request.origin ? net::endpoint_text(*request.origin, decision.port) : std::string{},
          decision.rule_text()};
}

// A record of a request, and the texts that it points to.
class RequestLine {
 public:
  RequestLine(audit::Event event, const Peer& peer, const Request& request,
              const LineTexts& texts) {
    record.event = event;
    record.time_us = unix_micros();
    record.agent = peer.id();
    record.src = texts.source;
    record.conn = peer.conn;
    if (!request.hides_method) record.method = request.method;
    if (!request.authority.empty()) {
      record.scheme = scheme_text(request);
      record.host = shown_host(request);
    }
    record.port = shown_port(request);
    if (!request.hides_path) record.path = request.path;
    record.rule = texts.rule;
    record.origin = texts.origin;
    record.sni = request.sni;
    if (request.decision.is_opened) record.tls = "opened";
    for (const auto& name : request.secrets) secret_ += (secret_.empty() ? "" : ",") + name;
    record.secret = secret_;
    record.scan = request.scan;
    if (!request.scan.empty()) record.detail = request.scan_place;
    record.request = request.ask.id;
    record.stripped.assign(request.stripped.begin(), request.stripped.end());
    record.policy = request.generation;
  }

  audit::Record record;

 private:
  std::string secret_;
};

// The verdict at the end: that of the opening, unless it was cut.
void set_outcome(audit::Record& record, Reason opened_despite, Reason cut) {
  const bool is_cut = cut != Reason::none;
  record.reason = is_cut ? cut : opened_despite;
  record.verdict = is_cut                           ? acl::Verdict::deny
                   : opened_despite != Reason::none ? acl::Verdict::would_deny
                                                    : acl::Verdict::allow;
}

}  // namespace

std::string_view scheme_text(const Request& request) noexcept {
  if (request.is_inside) return "https";
  return request.scheme == acl::Scheme::tunnel ? "connect" : "http";
}

std::string_view shown_host(const Request& request) noexcept {
  if (const std::string_view host = request.decision.host.text(); !host.empty()) return host;
  std::string_view raw = acl::split_authority(request.authority).host;
  raw = raw.substr(raw.rfind('@') + 1);
  return raw.substr(0, raw.find_first_of("/?#\\"));
}

std::uint16_t shown_port(const Request& request) noexcept {
  if (request.decision.port != 0) return request.decision.port;
  return acl::parse_port(acl::split_authority(request.authority).port).value_or(0);
}

RequestLog::Opened RequestLog::open(const Peer& peer, Request& request) {
  request.texts = texts_of(peer, request);
  RequestLine line{audit::Event::open, peer, request, request.texts};
  line.record.verdict = request.decision.verdict;
  line.record.reason = request.decision.reason;
  return {queue_.write(line.record), peer, request};
}

bool RequestLog::Opened::await_resume() const {
  if (!Written::await_resume()) return false;
  request_.wrote_open = true;
  request_.opened_despite = reason_;
  peer_.tally->request(metrics::method_of(request_.method), verdict_, reason_);
  return true;
}

AuditQueue::Written RequestLog::deny(const Peer& peer, const Request& request, Reason reason,
                                     int status) {
  const LineTexts texts = texts_of(peer, request);
  RequestLine line{audit::Event::deny, peer, request, texts};
  line.record.verdict = acl::Verdict::deny;
  line.record.reason = reason;
  line.record.status = status;
  if (reason == Reason::bad_request || reason == Reason::budget_exhausted ||
      reason == Reason::internal_error || reason == Reason::path_not_allowed ||
      reason == Reason::upgrade_not_allowed) {
    line.record.detail = request.fault();
  }
  if (reason == Reason::method_not_allowed && !request.query_fault.empty()) {
    line.record.detail = request.query_fault;
  }
  peer.tally->request(metrics::method_of(request.method), acl::Verdict::deny, reason);
  return refusals_.write(queue_, line.record, peer.account, loop_.now());
}

AuditQueue::Written RequestLog::deny_name(const RefusedName& refused) {
  const std::string rule = refused.decision.rule_text();
  const std::string_view canonical = refused.decision.host.text();
  audit::Record record;
  record.event = audit::Event::deny;
  record.time_us = unix_micros();
  record.agent = refused.agent;
  record.src = refused.source;
  record.method = "DNS";
  record.host = canonical.empty() ? refused.name : canonical;
  record.verdict = acl::Verdict::deny;
  record.reason = refused.reason;
  record.rule = rule;
  if (refused.reason == Reason::bad_request) record.detail = refused.decision.fault;
  record.policy = refused.policy;
  return refusals_.write(queue_, record, refused.account, loop_.now());
}

AuditQueue::Written RequestLog::close(const Peer& peer, Request& request, Reason cut, int status) {
  RequestLine line{audit::Event::close, peer, request, request.texts};
  set_outcome(line.record, request.opened_despite, cut);
  line.record.status = status;
  line.record.bytes_up = request.bytes_up;
  line.record.bytes_down = request.bytes_down;
  line.record.duration_ms = ms_since(request.begun);
  // Counted once: until here the request itself reports them.
  peer.tally->bytes_up += std::exchange(request.bytes_up, 0);
  peer.tally->bytes_down += std::exchange(request.bytes_down, 0);
  return queue_.write(line.record);
}

void RequestLog::tunnel_ends(const Peer& peer, const TunnelEnd& end) noexcept {
  try {
    close_tunnel(peer, end);
  } catch (const std::exception& problem) {
    unwritten_ends.warning("a tunnel has no close line: ", problem.what());
  }
  peer.tally->bytes_up += end.bytes_up;
  peer.tally->bytes_down += end.bytes_down;
  --peer.tally->tunnels_open;
}

void RequestLog::close_tunnel(const Peer& peer, const TunnelEnd& end) {
  const acl::Authority authority = acl::split_authority(end.authority);
  const std::string source = peer.source_text();
  audit::Record record;
  record.event = audit::Event::close;
  record.time_us = unix_micros();
  record.agent = peer.id();
  record.src = source;
  record.conn = peer.conn;
  record.method = peer.captured ? "TCP" : "CONNECT";
  record.scheme = "connect";
  record.host = authority.host;
  record.port = acl::parse_port(authority.port).value_or(0);
  set_outcome(record, end.opened_despite, end.cut);
  record.rule = end.rule;
  record.status = 200;
  const std::string origin = net::endpoint_text(end.origin, record.port);
  record.origin = origin;
  record.bytes_up = end.bytes_up;
  record.bytes_down = end.bytes_down;
  record.duration_ms = ms_since(end.begun);
  record.policy = end.policy;
  queue_.add(record);
}

std::uint64_t RequestLog::ms_since(SteadyTime begun) const noexcept {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(loop_.now() - begun).count());
}

}  // namespace stile::session
