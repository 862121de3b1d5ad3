// refusal_words: for every reason, why a request is refused and what to do about it.
#include "acl/refusal_words.h"

namespace stile::acl {
namespace {

constexpr std::string_view did_refuse = "refused", could_not = "could not reach";

constexpr RefusalWords words_of(Reason reason) {
  switch (reason) {
    case Reason::none:
      break;
    case Reason::unknown_agent:
      return {did_refuse, "the address that this connection comes from belongs to no agent",
              "ask the operator to add it to the sources of an agent"};
    case Reason::agent_expired:
      return {did_refuse, "this agent has expired", "ask the operator to renew it"};
    case Reason::offline:
      return {did_refuse, "egress is switched off", "ask the operator to switch it on: stile mode"};
    case Reason::ip_literal:
      return {did_refuse, "the destination is an IP address and only names are allowed",
              "use the name of the host, or ask the operator to add the address to allow_ip"};
    case Reason::bad_request:
      return {did_refuse, "the request, its host name or its port is malformed",
              "correct the request"};
    case Reason::port_not_allowed:
      return {did_refuse, "its port is not allowed", "ask the operator to allow it"};
    case Reason::host_denied:
      return {did_refuse, "a deny rule names it",
              "only the operator can change that rule; do not try it again"};
    case Reason::host_not_allowed:
      return {did_refuse, "not on its allowlist", "ask the operator to allow it"};
    case Reason::rate_limited:
      return {did_refuse, "too many of its DNS lookups are pending",
              "wait for some of them, then try again"};
    case Reason::too_many_connections:
      return {did_refuse, "it has too many connections open", "close some of them, then try again"};
    case Reason::budget_exhausted:
      return {did_refuse, "one of its budgets is used up",
              "ask the operator for more: stile budget reset"};
    case Reason::dns_failure:
      return {could_not, "the name could not be resolved",
              "check its spelling, or ask the operator to check the DNS of the proxy"};
    case Reason::address_forbidden:
      return {did_refuse,
              "the name resolves only to private or reserved addresses, or to this host",
              "if it should be reachable, ask the operator for private_exceptions"};
    case Reason::origin_unreachable:
      return {could_not, "none of its addresses accepted a connection",
              "check the port, or try again later"};
    case Reason::origin_timeout:
      return {could_not, "it did not answer in time", "try again later"};
    case Reason::origin_bad_response:
      return {could_not, "its answer is not valid HTTP",
              "use https, or ask the operator of that server"};
    case Reason::not_tls:
      return {did_refuse, "the tunnel did not begin with TLS",
              "use TLS, or ask the operator for tcp"};
    case Reason::sni_missing:
      return {did_refuse, "the TLS handshake names no server",
              "use a client that sends the server name (SNI)"};
    case Reason::sni_mismatch:
      return {did_refuse, "the TLS handshake names another server than the request",
              "use the same name in both"};
    case Reason::ech_refused:
      return {did_refuse, "the TLS handshake hides the server name (ECH)",
              "use a client without ECH, or ask the operator to list the host in ech"};
    case Reason::client_hello_timeout:
      return {did_refuse, "no TLS handshake followed in time",
              "use TLS, or ask the operator for tcp if the server speaks first"};
    case Reason::client_tls_failed:
      return {did_refuse, "the client ended its TLS handshake with Stile",
              "trust the certificate that stile ca prints, or ask the operator to leave this host "
              "sealed if the client pins its certificate"};
    case Reason::no_application_protocol:
      return {did_refuse, "the client does not offer HTTP/1.1",
              "allow HTTP/1.1 in the client, or ask the operator to leave this host sealed"};
    case Reason::host_mismatch:
      return {did_refuse, "the request names another host than its tunnel",
              "use a separate connection for each host"};
    case Reason::method_not_allowed:
      return {did_refuse, "this method is not allowed on this host",
              "ask the operator to add it to a request entry"};
    case Reason::path_not_allowed:
      return {did_refuse, "this path is not allowed on this host",
              "ask the operator to add it to a request entry"};
    case Reason::upgrade_not_allowed:
      return {did_refuse, "a WebSocket is not allowed there",
              "ask the operator to set websocket in a request entry"};
    case Reason::body_too_large:
      return {did_refuse, "the body of the request is too large",
              "send less, or ask the operator to raise max_body"};
    case Reason::ref_not_allowed:
      return {did_refuse, "the push would change or delete a ref that it may not",
              "push to a branch that the operator allows"};
    case Reason::credential_refused:
      return {did_refuse, "the request carries a credential of its own",
              "send it without one: Stile adds the operator's"};
    case Reason::placeholder_misplaced:
      return {did_refuse, "the placeholder of a secret is outside of its header",
              "use it only as the key of the client for this host"};
    case Reason::secret_found:
      return {did_refuse, "the request carries a key or another text that must not leave",
              "remove it from the request; if it is harmless, ask the operator to change the scan"};
    case Reason::origin_certificate:
      return {could_not, "its TLS certificate could not be verified",
              "ask the operator to check the certificate, or to add its CA to intercept.trust"};
    case Reason::audit_unavailable:
      return {did_refuse, "the audit log cannot be written, and nothing passes without its line",
              "ask the operator to check the disk of the log"};
    case Reason::overloaded:
      return {did_refuse, "the proxy has reached a global limit", "try again later"};
    case Reason::draining:
      return {did_refuse, "the proxy is about to stop", "try again in a moment"};
    case Reason::header_timeout:
      return {did_refuse, "the request did not arrive in time", "send it again, at once"};
    case Reason::header_too_large:
      return {did_refuse, "the headers of the request are too large",
              "send fewer or shorter headers"};
    case Reason::revoked:
      return {did_refuse, "the permission was revoked while the connection was open",
              "ask the operator why"};
    case Reason::idle_timeout:
      return {did_refuse, "nothing was sent or received for too long", "open a new connection"};
    case Reason::internal_error:
      break;
  }
  return {did_refuse, "the proxy failed to handle the request",
          "ask the operator to check the messages of the proxy"};
}

}  // namespace

RefusalWords refusal_words(Reason reason) noexcept { return words_of(reason); }

}  // namespace stile::acl
