// Refusal: the answer to a refused request.
#include "proxy/session/refusal.h"

#include <algorithm>

#include "acl/refusal_words.h"
#include "base/appender.h"
#include "base/decimal.h"

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

// Text that the agent or the config chose is truncated and escaped.
constexpr std::size_t max_text = 1024;
constexpr std::size_t max_head = 640;       // at most 480 are used
constexpr std::size_t usual_message = 256;  // few are longer

void put_text(Appender& out, std::string_view key, std::string_view text) {
  out.plain(key);
  out.escaped(text.substr(0, max_text));
  out.plain("\"");
}

// As sent, if it was invalid: truncated, so that the rest of the sentence fits.
std::string destination(const Refusal& refusal) {
  if (refusal.host.empty()) return "the connection";
  const std::string_view host = refusal.host.substr(0, acl::Host::max_length);
  std::string text;
  text.reserve(host.size() + sizeof "[]:65535");
  text += host;
  if (text.find(':') != std::string::npos && !text.starts_with('[')) text = '[' + text + ']';
  if (refusal.port != 0) {
    text += ':';
    append_decimal(text, refusal.port);
  }
  return text;
}

// What became of the question, and what the client can do.
std::string ask_remedy(const AskTicket& ask) {
  const std::string request = " (request " + ask.id + ")";
  switch (ask.state) {
    case AskTicket::State::refused:
      return "the operator was asked and said no" + request + "; do not try it again soon";
    case AskTicket::State::open:
      return "the operator has been asked" + request + " and has not answered yet; try again in " +
             std::to_string(ask.retry_after.count()) + " s, or wait for the answer at http://" +
             std::string{acl::own_name} + "/v1/asks/" + ask.id + "?wait=30";
    default:
      return "the operator was asked" + request + "; try again to ask once more";
  }
}

void append_body(std::string& body, const Refusal& refusal) {
  const acl::Remedy remedy = remedy_of(refusal);
  const std::string hint = allow_hint(refusal, remedy);
  std::string message = refusal_message(refusal, remedy, hint);
  // Many clients show their user the message and nothing else.
  if (!refusal.contact.empty()) message.append("; contact: ").append(refusal.contact);
  std::size_t room = 512;  // keys, reason, port and the id of an ask
  for (const std::string_view text : {refusal.agent, refusal.host, std::string_view{message},
                                      refusal.contact, std::string_view{hint}}) {
    room += std::min(text.size(), max_text) * Appender::max_escape;
  }
  Appender out{body, room};
  out.plain("{\"error\":\"");
  out.plain(text(refusal.reason));
  put_text(out, "\",\"agent\":\"", refusal.agent);
  if (!refusal.host.empty()) put_text(out, ",\"host\":\"", refusal.host);
  if (refusal.port != 0) {
    out.plain(",\"port\":");
    out.number(refusal.port);
  }
  if (refusal.ask != nullptr) put_text(out, ",\"request\":\"", refusal.ask->id);
  put_text(out, ",\"message\":\"", message);
  if (!hint.empty()) put_text(out, ",\"hint\":\"", hint);
  if (!refusal.contact.empty()) put_text(out, ",\"contact\":\"", refusal.contact);
  out.plain("}\n");
}

void append_head(std::string& answer, const Refusal& refusal, std::size_t body_bytes) {
  const std::string_view reason = text(refusal.reason);
  Appender out{answer, max_head};
  out.plain("HTTP/1.1 ");
  out.number(static_cast<std::uint64_t>(acl::status(refusal.reason)));
  out.plain(" ");
  out.plain(reason);
  out.plain("\r\nX-Stile-Reason: ");
  out.plain(reason);
  out.plain("\r\nProxy-Status: stile; error=");
  out.plain(proxy_status_error(refusal.reason));
  out.plain("; details=\"");
  out.plain(reason);
  out.plain("\"");
  if (refusal.ask != nullptr) {
    out.plain("\r\nX-Stile-Request: ");
    out.plain(refusal.ask->id);
    out.plain("\r\nRetry-After: ");
    out.number(static_cast<std::uint64_t>(refusal.ask->retry_after.count()));
  }
  if (refusal.ask == nullptr && refusal.retry_after_seconds > 0) {
    out.plain("\r\nRetry-After: ");
    out.number(static_cast<std::uint64_t>(refusal.retry_after_seconds));
  }
  out.plain("\r\nContent-Type: application/json\r\nCache-Control: no-store\r\nContent-Length: ");
  out.number(body_bytes);
  out.plain(refusal.keep_alive ? "\r\n\r\n" : "\r\nConnection: close\r\n\r\n");
}

}  // namespace

acl::Remedy remedy_of(const Refusal& refusal) {
  return acl::remedy_for({refusal.reason, refusal.scheme, refusal.host, refusal.port},
                         refusal.policy);
}

std::string allow_hint(const Refusal& refusal, const acl::Remedy& remedy) {
  if (refusal.granted_by == GrantedBy::nothing || remedy.pattern.empty()) return {};
  if (refusal.granted_by == GrantedBy::flag) return "--allow " + remedy.pattern;
  std::string hint;
  hint.reserve(sizeof "stile allow  " + refusal.agent.size() + remedy.pattern.size());
  return hint.append("stile allow ").append(refusal.agent).append(" ").append(remedy.pattern);
}

std::string refusal_message(const Refusal& refusal, const acl::Remedy& remedy,
                            std::string_view hint) {
  const acl::RefusalWords words = acl::refusal_words(refusal.reason);
  std::string text;
  text.reserve(usual_message);
  text.append("Stile ").append(words.verb).append(" ").append(destination(refusal));
  if (!refusal.agent.empty() && refusal.agent != "-") {
    text.append(" for agent ").append(refusal.agent);
  }
  text.append(": ").append(acl::cause_of(refusal.reason, remedy, refusal.fault)).append("; ");
  if (!remedy.imitated.empty()) return text.append("check the spelling");
  if (!remedy.denied_by.empty()) {
    return text.append(acl::refusal_words(Reason::host_denied).remedy);
  }
  if (refusal.ask != nullptr) return text.append(ask_remedy(*refusal.ask));
  if (hint.empty()) return text.append(acl::way_out(refusal.reason, refusal.fault));
  text.append("ask the operator for").append(refusal.granted_by == GrantedBy::flag ? " " : ": ");
  return text.append(hint);
}

std::string write_refusal(const Refusal& refusal) {
  std::string body, answer;
  append_body(body, refusal);
  answer.reserve(max_head + body.size());
  append_head(answer, refusal, body.size());
  if (!refusal.is_head) answer += body;
  return answer;
}

}  // namespace stile::session
