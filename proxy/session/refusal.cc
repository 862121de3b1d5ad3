// Refusal: the answer to a request that was not let through.
#include "proxy/session/refusal.h"

#include <algorithm>

namespace stile::session {
namespace {

using acl::Reason;

// RFC 9209 section 2.3.
std::string_view proxy_status_error(Reason reason) {
  switch (reason) {
    case Reason::address_forbidden:
      return "destination_ip_prohibited";
    case Reason::dns_failure:
      return "dns_error";
    case Reason::origin_unreachable:
      return "connection_refused";
    case Reason::origin_timeout:
      return "connection_timeout";
    case Reason::origin_bad_response:
      return "http_protocol_error";
    case Reason::bad_request:
    case Reason::header_too_large:
    case Reason::header_timeout:
      return "http_request_error";
    case Reason::internal_error:
    case Reason::audit_unavailable:
      return "proxy_internal_error";
    case Reason::overloaded:
    case Reason::draining:
      return "connection_limit_reached";
    default:
      return "http_request_denied";
  }
}

void append_json(std::string& out, std::string_view text) {
  constexpr std::string_view hex = "0123456789abcdef";
  out += '"';
  text = text.substr(0, 1024);
  const auto is_special = [](char c) { return c < 0x20 || c > 0x7e || c == '"' || c == '\\'; };
  for (auto at = text.begin(); at != text.end();) {
    const auto plain_end = std::find_if(at, text.end(), is_special);
    out.append(at, plain_end);
    at = plain_end;
    if (at == text.end()) break;
    const auto byte = static_cast<unsigned char>(*at++);
    out += "\\u00";
    out += hex[byte >> 4];
    out += hex[byte & 15];
  }
  out += '"';
}

}  // namespace

std::string allow_hint(const Refusal& refusal) {
  if (!refusal.takes_grants ||
      (refusal.reason != Reason::host_not_allowed && refusal.reason != Reason::port_not_allowed)) {
    return {};
  }
  std::string hint = "stile allow " + std::string{refusal.agent} + " ";
  if (refusal.scheme == acl::Scheme::http) hint += "http://";
  hint += refusal.host;
  const std::uint16_t usual = refusal.scheme == acl::Scheme::http ? 80 : 443;
  if (refusal.port != usual) hint += ":" + std::to_string(refusal.port);
  return hint;
}

std::string write_refusal(const Refusal& refusal) {
  const std::string_view reason = text(refusal.reason);
  std::string body = "{\"error\":\"";
  body.reserve(512);
  body += reason;
  body += "\",\"agent\":";
  append_json(body, refusal.agent);
  if (!refusal.host.empty()) {
    body += ",\"host\":";
    append_json(body, refusal.host);
  }
  if (refusal.port != 0) body += ",\"port\":" + std::to_string(refusal.port);
  body += ",\"message\":";
  append_json(body, acl::sentence(refusal.reason));
  if (const std::string hint = allow_hint(refusal); !hint.empty()) {
    body += ",\"hint\":";
    append_json(body, hint);
  }
  if (!refusal.contact.empty()) {
    body += ",\"contact\":";
    append_json(body, refusal.contact);
  }
  body += "}\n";

  std::string answer = "HTTP/1.1 ";
  answer.reserve(512 + body.size());
  answer += std::to_string(acl::status(refusal.reason));
  answer += ' ';
  answer += reason;
  answer += "\r\nX-Stile-Reason: ";
  answer += reason;
  answer += "\r\nProxy-Status: stile; error=";
  answer += proxy_status_error(refusal.reason);
  answer += "; details=\"";
  answer += reason;
  answer += "\"\r\nContent-Type: application/json\r\nCache-Control: no-store\r\nContent-Length: ";
  answer += std::to_string(body.size());
  answer += refusal.keep_alive ? "\r\n\r\n" : "\r\nConnection: close\r\n\r\n";
  if (!refusal.is_head) answer += body;
  return answer;
}

}  // namespace stile::session
