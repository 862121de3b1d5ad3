// HttpExchange: one plain-HTTP request, from its head to its last line. http_upload.cc has the
// upload, http_answer.cc the answer.
#include "proxy/session/http_exchange.h"

#include "base/ascii.h"
#include "proxy/http/forward.h"
#include "proxy/session/refuse.h"

namespace stile::session {

HttpExchange::HttpExchange(Client& client, Connector& connector, Request& request,
                           http::RequestHead& head)
    : client_{client},
      connector_{connector},
      request_{request},
      head_{head},
      client_is_1_1_{head.minor_version == 1},
      keep_alive_{head.keep_alive},
      upload_done_{client.context.loop} {
  request_.method = std::string{head.method};
  request_.scheme = acl::Scheme::http;
}

HttpExchange::~HttpExchange() {
  be_patient(false);
  client_.watch_for_loss(Reason::none);
  connector_.origin.reset();
}

void HttpExchange::be_patient(bool on) noexcept {
  client_.socket->be_patient(on);
  if (connector_.origin) connector_.origin->be_patient(on);
}

// Called before more is read. True: it has used its share of this turn, and from now on comes after
// connections with less to move.
bool HttpExchange::is_to_wait() noexcept {
  if (burst_ < max_burst) return false;
  burst_ = 0;
  be_patient(true);
  return true;
}

Task<bool> HttpExchange::run() {
  // The head is rewritten under the policy in force, not under that of the last request.
  if (const auto* now = client_.peer.in(*client_.context.policy.get()); now != nullptr) {
    client_.peer.agent = *now;
  }
  Reason reason = read_target();
  if (reason != Reason::none) {
    request_.generation = client_.context.policy.get()->generation();
    co_await refuse(client_, request_, reason);
    co_return false;
  }
  reason = co_await connector_.connect(request_, Connector::Reuse::yes);
  if (reason == Reason::none) reason = connector_.still_allowed(request_);
  if (reason == Reason::none) reason = keep_head_up_to_date();
  if (reason == Reason::none) {
    const bool written = co_await client_.context.log.open(client_.peer, request_);
    if (!written) reason = Reason::audit_unavailable;
  }
  if (reason != Reason::none) {
    // A refusal closes the connection only if an unwanted body follows, or if the request was
    // malformed.
    client_.clear_cancel();
    drop_head();
    const bool keep = keep_alive_ && head_.framing == http::Framing::none &&
                      reason != Reason::bad_request && reason != Reason::revoked;
    const bool sent = co_await refuse(client_, request_, reason, keep);
    const bool goes_on = keep && sent && !client_.is_cancelled();
    co_return goes_on;
  }
  // The policy may have changed while the line was written.
  reason = client_.is_cancelled() ? client_.cancelled() : connector_.still_allowed(request_);
  if (reason == Reason::none) reason = keep_head_up_to_date();
  drop_head();
  if (reason != Reason::none) co_return co_await finish(Reason::revoked);
  reason = co_await forward();
  co_return co_await finish(reason);
}

// Turns the head into the destination to decide on and the head to send.
HttpExchange::Reason HttpExchange::read_target() {
  const auto target = http::parse_absolute_target(head_.target);
  if (!target) return Reason::bad_request;
  request_.authority = std::string{target->authority};
  request_.path = std::string{target->path};
  if (!acl::split_authority(target->authority).has_port) request_.authority += ":80";
  if (head_.has_host && !equal_ignoring_case(target->authority, head_.host) &&
      !host_agrees(request_.authority)) {
    return Reason::bad_request;
  }
  return write_head(*target);
}

// Under the policy that the request was decided by.
HttpExchange::Reason HttpExchange::write_head(const http::AbsoluteTarget& target) {
  static const std::vector<std::string> nothing;
  const auto& agent = client_.peer.agent;
  written_by_ = agent;
  const auto& strip = agent ? agent->strip_request_headers : nothing;
  if (http::has_smuggled_underscore_name(head_, strip)) return Reason::bad_request;

  const acl::Authority authority = acl::split_authority(request_.authority);
  const acl::HostParse host = acl::parse_host(authority.host);
  std::string host_field{host.kind == acl::HostParse::Kind::name ? host.host.text()
                                                                 : authority.host};
  if (authority.port != "80") host_field += ":" + std::string{authority.port};
  std::vector<std::string_view> stripped;
  to_origin_.clear();
  http::write_request_head(to_origin_, head_, target, host_field, head_.framing, strip, stripped);
  request_.stripped.assign(stripped.begin(), stripped.end());
  return Reason::none;
}

// The fields to strip may have changed while the request waited for DNS or for the origin.
HttpExchange::Reason HttpExchange::keep_head_up_to_date() {
  if (request_.judged_by == written_by_) return Reason::none;
  return write_head(*http::parse_absolute_target(head_.target));
}

// After this the client's head is not read again; the rest of the buffer is the body.
void HttpExchange::drop_head() {
  client_.in.erase(0, client_.head_bytes);
  client_.head_bytes = 0;
}

// The Host field must name the same host as the target, after canonicalisation of both.
bool HttpExchange::host_agrees(std::string_view authority) const {
  const acl::Authority a = acl::split_authority(authority);
  const acl::Authority b = acl::split_authority(head_.host);
  const auto port = acl::parse_port(b.has_port ? b.port : "80");
  if (!port || port != acl::parse_port(a.port)) return false;
  const acl::HostParse left = acl::parse_host(a.host), right = acl::parse_host(b.host);
  if (left.kind != right.kind) return false;
  if (left.kind == acl::HostParse::Kind::name) return left.host == right.host;
  return equal_ignoring_case(a.host, b.host);
}

Task<HttpExchange::Reason> HttpExchange::forward() {
  Reason reason = Reason::internal_error;
  try {
    reason = co_await transfer();
  } catch (const std::exception&) {
    reason = Reason::internal_error;  // out of memory; the upload below still uses this exchange
  }
  stop_upload();
  while (upload_runs_) co_await upload_done_;
  if (reason == Reason::none) reason = upload_result_;
  co_return reason;
}

Task<HttpExchange::Reason> HttpExchange::transfer() {
  Reason reason = co_await send_head();
  if (reason == Reason::none && head_.framing != http::Framing::none) {
    upload();
  }
  if (reason == Reason::none) reason = co_await receive();
  if (reason == Reason::origin_bad_response && connector_.is_reused() && request_.bytes_down == 0 &&
      head_.framing == http::Framing::none &&
      (request_.method == "GET" || request_.method == "HEAD")) {
    // The origin closed the kept connection while the request was on its way (RFC 9112 9.3.1).
    // Retry at the address in the request's line.
    reason = co_await connector_.connect_again(request_);
    if (reason != Reason::none) co_return reason;
    // The fields to strip may have changed since, and the client's head is gone.
    if (request_.judged_by != written_by_) co_return Reason::origin_bad_response;
    reason = co_await send_head();
    if (reason == Reason::none) reason = co_await receive();
  }
  co_return reason;
}

// The only place where an allowed exchange ends: writes its line, and reports a failure to the
// client.
Task<bool> HttpExchange::finish(Reason reason) {
  client_.clear_deadline();
  if (reason == Reason::revoked && connector_.origin) {
    connector_.origin->reset_when_closed();  // bytes still in the kernel must not be sent
    connector_.origin.reset();
  }
  const bool answered = status_ != 0;
  if (reason == Reason::idle_timeout && !answered) reason = Reason::origin_timeout;
  auto written = client_.context.log.close(client_.peer, request_, reason,
                                           answered ? status_ : acl::status(reason));
  if (reason != Reason::none && !answered) static_cast<void>(co_await written);
  if (origin_reusable_ && reason == Reason::none) {
    be_patient(false);
    connector_.keep_origin(request_);
  }
  if (reason == Reason::none) co_return keep_alive_;
  if (!answered) {
    client_.clear_cancel();
    co_await answer_refusal(client_, request_, reason, false);
  } else {
    client_.socket->reset_when_closed();  // a cut answer must not look complete
  }
  co_return false;
}

}  // namespace stile::session
