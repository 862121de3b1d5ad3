// The text and the HTTP status of every reason, in one table.
#include "acl/decision.h"

#include <array>
#include <cstddef>

namespace stile::acl {
namespace {

struct ReasonRow {
  Reason reason;
  std::string_view text;
  int status;
  std::string_view sentence;
};

constexpr std::array<ReasonRow, reason_count> rows{{
    {Reason::none, "none", 200, "The request is allowed."},
    {Reason::unknown_agent, "unknown-agent", 403,
     "The source address of this connection belongs to no agent."},
    {Reason::agent_expired, "agent-expired", 403, "This agent has expired."},
    {Reason::offline, "offline", 403, "Egress is switched off, for this agent or for all."},
    {Reason::ip_literal, "ip-literal", 403,
     "The destination is an IP address; only names are allowed."},
    {Reason::bad_request, "bad-request", 400,
     "The request, its host name or its port is malformed."},
    {Reason::port_not_allowed, "port-not-allowed", 403,
     "The destination port is not allowed for this agent."},
    {Reason::host_denied, "host-denied", 403, "A deny rule names this host."},
    {Reason::host_not_allowed, "host-not-allowed", 403,
     "No rule of this agent allows this host on this port."},
    {Reason::rate_limited, "rate-limited", 429, "The agent has too many pending DNS lookups."},
    {Reason::too_many_connections, "too-many-connections", 429,
     "The agent has too many connections open."},
    {Reason::budget_exhausted, "budget-exhausted", 429, "The agent has used up a budget."},
    {Reason::dns_failure, "dns-failure", 502, "The host name could not be resolved."},
    {Reason::address_forbidden, "address-forbidden", 403,
     "The host name resolves only to addresses that are never dialled."},
    {Reason::origin_unreachable, "origin-unreachable", 502,
     "No address of the origin accepted a connection."},
    {Reason::origin_timeout, "origin-timeout", 504, "The origin did not answer in time."},
    {Reason::origin_bad_response, "origin-bad-response", 502,
     "The origin sent a response that is not valid HTTP."},
    {Reason::not_tls, "not-tls", 403, "The tunnel did not open with a TLS ClientHello."},
    {Reason::sni_missing, "sni-missing", 403, "The TLS ClientHello names no server."},
    {Reason::sni_mismatch, "sni-mismatch", 403,
     "The TLS ClientHello names another server than the CONNECT request."},
    {Reason::ech_refused, "ech-refused", 403,
     "The TLS ClientHello may hide another server name (ECH, or the GREASE that Chromium always "
     "sends); the setting ech lists the hosts where that is allowed."},
    {Reason::client_hello_timeout, "client-hello-timeout", 403,
     "The TLS ClientHello did not arrive in time."},
    {Reason::client_tls_failed, "client-tls-failed", 403,
     "The client ended the TLS handshake with Stile; it may not trust Stile's CA."},
    {Reason::no_application_protocol, "no-application-protocol", 403,
     "The client does not offer HTTP/1.1, and this host is opened."},
    {Reason::host_mismatch, "host-mismatch", 421,
     "The request names another host than its tunnel."},
    {Reason::method_not_allowed, "method-not-allowed", 403,
     "No request entry for this host allows this method."},
    {Reason::path_not_allowed, "path-not-allowed", 403,
     "No request entry for this host allows this path with this method."},
    {Reason::upgrade_not_allowed, "upgrade-not-allowed", 403,
     "No request entry for this host allows a WebSocket here."},
    {Reason::body_too_large, "body-too-large", 413, "The request's body is larger than max_body."},
    {Reason::ref_not_allowed, "ref-not-allowed", 403,
     "The push would change a ref that no capability covers, or delete one."},
    {Reason::credential_refused, "credential-refused", 403,
     "The agent sent a credential of its own to a host where Stile sets it."},
    {Reason::placeholder_misplaced, "placeholder-misplaced", 403,
     "The placeholder of a secret is outside of its header."},
    {Reason::secret_found, "secret-found", 403,
     "The request carries something that a scan looks for, such as a key."},
    {Reason::origin_certificate, "origin-certificate", 502,
     "The origin's TLS or its certificate could not be verified."},
    {Reason::audit_unavailable, "audit-unavailable", 503,
     "The audit log cannot be written, and nothing passes without its line."},
    {Reason::overloaded, "overloaded", 503, "The proxy has reached a global limit."},
    {Reason::draining, "draining", 503, "The proxy is shutting down."},
    {Reason::header_timeout, "header-timeout", 408, "The request head did not arrive in time."},
    {Reason::header_too_large, "header-too-large", 431, "The request head is too large."},
    {Reason::internal_error, "internal-error", 500,
     "The proxy failed to handle this request; nothing was let through."},
    {Reason::revoked, "revoked", 403, "The permission was revoked while the connection was open."},
    {Reason::idle_timeout, "idle-timeout", 403, "No data was sent or received for too long."},
}};

constexpr bool rows_follow_the_enum() {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (static_cast<std::size_t>(rows[i].reason) != i || rows[i].text.empty()) return false;
  }
  return true;
}
static_assert(rows_follow_the_enum());

const ReasonRow& row(Reason reason) noexcept {
  const auto index = static_cast<std::size_t>(reason);
  return rows[index < rows.size() ? index : static_cast<std::size_t>(Reason::internal_error)];
}

}  // namespace

std::string_view text(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::allow:
      return "allow";
    case Verdict::would_deny:
      return "would-deny";
    case Verdict::deny:
      break;
  }
  return "deny";
}

std::string_view text(Reason reason) noexcept { return row(reason).text; }
std::optional<Reason> reason_named(std::string_view text) noexcept {
  for (const ReasonRow& known : rows) {
    if (known.text == text) return known.reason;
  }
  return std::nullopt;
}
int status(Reason reason) noexcept { return row(reason).status; }
std::string_view sentence(Reason reason) noexcept { return row(reason).sentence; }

}  // namespace stile::acl
