// HttpExchange: one HTTP request, from its head to its last line. http_hold.cc has what is read of
// a body before it goes on, http_push.cc the commands of a git push, http_upload.cc the upload, and
// http_answer.cc the answer.
#include "proxy/session/http_exchange.h"

#include <algorithm>

#include "acl/overrides.h"
#include "base/ascii.h"
#include "base/unix_time.h"
#include "base/wipe.h"
#include "proxy/http/forward.h"
#include "proxy/session/own_page.h"
#include "proxy/session/refuse.h"

namespace stile::session {
namespace {

constexpr std::string_view accept_encoding = "accept-encoding";
constexpr std::string_view websocket_extensions = "sec-websocket-extensions";

}  // namespace

HttpExchange::HttpExchange(Client& client, Connector& connector, Request& request,
                           http::RequestHead& head)
    : client_{client},
      connector_{connector},
      request_{request},
      head_{head},
      client_is_1_1_{head.minor_version == 1},
      keep_alive_{head.keep_alive},
      to_origin_{client.context.buffers.take()},
      from_origin_{client.context.buffers.take()},
      to_client_{client.context.buffers.take()},
      body_decoder_{client.context.limits.header_bytes},
      scan_{client, request},
      tokens_{request},
      upload_done_{client.context.loop} {
  request_.method = std::string{head.method};
  request_.is_inside = !client.inside.empty();
  request_.scheme = request_.is_inside ? acl::Scheme::tunnel : acl::Scheme::http;
}

HttpExchange::~HttpExchange() {
  be_patient(false);
  client_.watch_for_loss(Reason::none);
  connector_.origin.reset();
  wipe_secrets();
  for (std::string* buffer : {&to_origin_, &from_origin_, &to_client_}) {
    client_.context.buffers.give_back(std::move(*buffer));
  }
}

void HttpExchange::wipe_secrets() {
  if (secret_values_.empty()) return;
  wipe(to_origin_);
  for (std::string& value : secret_values_) wipe(value);
  secret_values_.clear();
}

void HttpExchange::be_patient(bool on) noexcept {
  client_.stream.socket().be_patient(on);
  if (connector_.origin) connector_.origin.socket().be_patient(on);
}

// Called before more is read. True: it has used its share of this turn, and from now on comes after
// connections with less to move.
bool HttpExchange::is_to_wait() noexcept {
  if (burst_ < max_burst) return false;
  burst_ = 0;
  be_patient(true);
  return true;
}

// Client::read_more() for a body that is read before anything of it goes on: a client could send
// chunk lines as fast as they are read, and almost no data.
Task<bool> HttpExchange::read_in_turn() {
  if (is_to_wait()) co_await client_.stream.socket().readable_again();
  if (client_.is_cancelled()) co_return false;
  const std::size_t before = client_.in.size();
  const bool more = co_await client_.read_more();
  burst_ += client_.in.size() - before;
  co_return more;
}

Task<bool> HttpExchange::run() {
  // The head is rewritten under the policy in force, not under that of the last request.
  if (const auto* now = client_.peer.in(*client_.context.policy.get()); now != nullptr) {
    client_.peer.agent = *now;
  }
  Reason reason = read_target();
  if (reason != Reason::none) {
    request_.generation = client_.context.policy.get()->generation();
    if (request_.is_inside) connector_.decide(request_);  // fills in what the line says
    co_await refuse(client_, request_, reason);
    co_return false;
  }
  if (is_for_stile_itself(client_, request_)) {
    co_return co_await serve_own_page(client_, connector_, request_, head_);
  }
  reason = co_await connector_.connect(request_, Connector::Reuse::yes);
  if (reason == Reason::none) reason = connector_.still_allowed(request_);
  if (reason == Reason::none && !request_.decision.terms.push_rules.empty()) {
    reason = co_await read_push();
    if (reason == Reason::none) reason = connector_.still_allowed(request_);
  }
  if (reason == Reason::none) reason = keep_head_up_to_date();
  if (reason == Reason::none) reason = judge_push();
  if (reason == Reason::none &&
      (request_.judged_by->watch || request_.decision.terms.needs_query)) {
    reason = co_await hold_body();
    if (reason == Reason::none) reason = connector_.still_allowed(request_);
    if (reason == Reason::none) reason = keep_head_up_to_date();
    if (reason == Reason::none) reason = judge_push();
    if (reason == Reason::none) reason = judge_query();
    if (reason == Reason::none) reason = co_await scan_held();
  }
  if (reason == Reason::ref_not_allowed && push_->wants_report()) {
    co_await refuse_push();
    co_return false;
  }
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
  for (const acl::AgentSecret* secret : request_.decision.terms.secrets) {
    secret->secret->value->note_use(unix_micros());
    ++client_.peer.tally->secret_uses[secret->secret->name];
  }
  // The policy may have changed while the line was written, or while the body was looked through
  // again under a new one.
  for (bool is_scanned = false; reason == Reason::none && !is_scanned;) {
    reason = client_.is_cancelled() ? client_.cancelled() : connector_.still_allowed(request_);
    if (reason == Reason::none) reason = keep_head_up_to_date();
    if (reason == Reason::none) reason = judge_push();
    if (reason == Reason::none) reason = judge_query();
    if (reason != Reason::none) {  // the agent itself may be gone
      reason = Reason::revoked;
      break;
    }
    is_scanned = scan_.is_current();
    if (!is_scanned || scan_.is_on()) reason = co_await scan_held();
  }
  drop_head();
  if (reason != Reason::none) co_return co_await finish(reason);
  reason = co_await forward();
  co_return co_await finish(reason);
}

// Turns the head into the destination to decide on and, for plain HTTP, the head to send.
HttpExchange::Reason HttpExchange::read_target() {
  const auto target = parse_target();
  if (request_.is_inside) request_.authority = client_.inside;  // whatever the head says
  const bool is_captured = !client_.captured.empty();
  if (is_captured) request_.authority = client_.captured;
  if (!target) {
    request_.head_fault = request_.is_inside || is_captured ? "the target is not a path"
                                                            : http::fault_of_target(head_.target);
    return Reason::bad_request;
  }
  request_.path = std::string{target->path};
  if (request_.is_inside) {
    gather_facts(*target);
    // A body would end where the frames begin, and the origin may see that place elsewhere.
    if (wants_websocket_ && (head_.framing != http::Framing::none || !client_is_1_1_)) {
      request_.head_fault = "an upgrade to a WebSocket is HTTP/1.1 and has no body";
      return Reason::bad_request;
    }
    return Reason::none;  // which fields it gets is part of the decision
  }
  if (is_captured) {
    const std::string& authority = client_.captured;
    if ((!target->authority.empty() && !agrees(authority, target->authority)) ||
        (head_.has_host && !agrees(authority, head_.host))) {
      request_.head_fault = "the request names another host than the one connected to";
      return Reason::bad_request;
    }
  } else {
    request_.authority = std::string{target->authority};
    if (!acl::split_authority(target->authority).has_port) request_.authority += ":80";
    if (head_.has_host && !equal_ignoring_case(target->authority, head_.host) &&
        !agrees(request_.authority, head_.host)) {
      request_.head_fault = "the Host field names another host than the URL";
      return Reason::bad_request;
    }
  }
  if (client_.peer.agent && client_.peer.agent->inside) gather_facts(*target);
  return write_head(*target);
}

std::optional<http::AbsoluteTarget> HttpExchange::parse_target() const {
  if (!request_.is_inside && client_.captured.empty()) {
    return http::parse_absolute_target(head_.target);
  }
  auto target = request_.is_inside ? http::parse_inside_target(head_.target)
                                   : http::parse_captured_target(head_.target);
  const bool is_server = target && !target->has_path_or_query;  // "*", or no path at all
  if (is_server && head_.method == "OPTIONS") target->path = "*";
  if (head_.target == "*" && head_.method != "OPTIONS") return std::nullopt;
  return target;
}

// What steps 11 and 12 judge.
void HttpExchange::gather_facts(const http::AbsoluteTarget& target) {
  acl::RequestFacts& facts = request_.facts.emplace();
  facts.method = request_.method;
  facts.path = request_.path;
  const std::size_t mark = target.path_and_query.find('?');
  request_.query = mark == std::string_view::npos ? "" : target.path_and_query.substr(mark + 1);
  facts.query = request_.query;
  facts.target = head_.target;
  facts.names_tunnel = true;
  if (head_.framing == http::Framing::length) facts.body_bytes = head_.content_length;
  request_.fields.clear();
  for (const http::Field& field : head_.fields) {
    request_.fields.push_back({field.name, field.value});
  }
  acl::Overrides overrides = acl::overrides_in(request_.fields, request_.query);
  request_.other_method = std::move(overrides.method);
  facts.other_method = request_.other_method;
  facts.names_other_path = overrides.has_path;
  if (!request_.is_inside) return;
  const std::string& tunnel = client_.inside;
  facts.names_tunnel = (target.authority.empty() || agrees(tunnel, target.authority)) &&
                       (!head_.has_host || agrees(tunnel, head_.host)) &&
                       std::all_of(overrides.hosts.begin(), overrides.hosts.end(),
                                   [&](std::string_view host) { return agrees(tunnel, host); });
  for (const acl::RequestField& field : request_.fields) {
    facts.wants_websocket =
        facts.wants_websocket || (equal_ignoring_case(field.name, "upgrade") &&
                                  equal_ignoring_case(field.value, "websocket"));
  }
  facts.fields = &request_.fields;
  wants_websocket_ = facts.wants_websocket;
}

// Under the policy that the request was decided by.
HttpExchange::Reason HttpExchange::write_head(const http::AbsoluteTarget& target) {
  const auto& agent = client_.peer.agent;
  written_by_ = agent;
  strip_ = {};
  if (agent) strip_ = agent->strip_request_headers;
  std::vector<http::Field> added;
  if (request_.is_inside) {
    own_strip_.assign(strip_.begin(), strip_.end());
    const Reason failed = add_secrets(own_strip_, added);
    if (failed != Reason::none) return failed;
    strip_ = own_strip_;
  }
  if (http::has_smuggled_underscore_name(head_, strip_)) {
    request_.head_fault = "a field name has _ where a framing or stripped field has -";
    return Reason::bad_request;
  }

  const acl::Authority authority = acl::split_authority(request_.authority);
  const acl::HostParse host = acl::parse_host(authority.host);
  std::string host_field{host.kind == acl::HostParse::Kind::name ? host.host.text()
                                                                 : authority.host};
  if (authority.port != default_port()) host_field += ":" + std::string{authority.port};
  std::vector<std::string_view> stripped;
  to_origin_.clear();
  http::write_request_head(to_origin_, head_, target, host_field, head_.framing, strip_, stripped,
                           added);
  request_.stripped.assign(stripped.begin(), stripped.end());
  std::erase(request_.stripped, accept_encoding);
  return Reason::none;
}

// Secrets go in last, after the request was allowed. On their hosts no other credential passes.
HttpExchange::Reason HttpExchange::add_secrets(std::vector<std::string>& strip,
                                               std::vector<http::Field>& added) {
  const acl::RequestTerms& terms = request_.decision.terms;
  request_.secrets.clear();
  wipe_secrets();
  scrubber_.reset();
  if (terms.rule != nullptr && terms.of_host.empty()) {
    std::erase_if(strip, [&](const std::string& name) {
      const auto& kept = terms.rule->keep_headers;
      return std::find(kept.begin(), kept.end(), name) != kept.end();
    });
  }
  secret_values_.reserve(terms.secrets.size());  // the fields point into it
  for (const acl::AgentSecret* secret : terms.of_host) {
    const auto value = secret->secret->value->get();
    if (!value) {  // its command has failed for too long
      request_.head_fault = acl::no_secret_value;
      return Reason::internal_error;
    }
    if (!scrubber_) scrubber_.emplace();
    scrubber_->add_secret(value->view(), secret->placeholder);
    strip.push_back(lower_case(secret->secret->header));
    const auto& used = terms.secrets;
    if (std::find(used.begin(), used.end(), secret) == used.end()) continue;
    secret_values_.push_back(secret->secret->header_value(value->view()));
    added.emplace_back(secret->secret->header, secret_values_.back());
    request_.secrets.push_back(secret->secret->name);
  }
  const acl::HostBudget* budget = request_.decision.budget;
  if (scrubber_ || (budget != nullptr && budget->tokens)) {
    // What is encoded cannot be searched, nor can its tokens be read.
    strip.emplace_back(accept_encoding);
    added.emplace_back("Accept-Encoding", "identity");
  }
  if (wants_websocket_) {
    // Compressed frames could not be looked through.
    if (request_.judged_by->watch) strip.emplace_back(websocket_extensions);
    added.emplace_back("Connection", "Upgrade");
    added.emplace_back("Upgrade", "websocket");
  }
  return Reason::none;
}

// The fields to strip may have changed while the request waited for DNS or for the origin.
HttpExchange::Reason HttpExchange::keep_head_up_to_date() {
  const acl::RequestRule* rule = request_.decision.terms.rule;
  max_body_ = rule != nullptr ? rule->max_body : std::nullopt;
  if (request_.judged_by == written_by_) return Reason::none;
  return write_head(*parse_target());
}

// After this the client's head is not read again; the rest of the buffer is the body.
void HttpExchange::drop_head() {
  client_.in.erase(0, client_.head_bytes);
  client_.head_bytes = 0;
  if (!request_.facts) return;
  request_.facts->fields = nullptr;
  request_.facts->target = {};
}

std::string_view HttpExchange::default_port() const noexcept {
  return request_.is_inside ? "443" : "80";
}

// What was written must name the same host and port as the authority, after canonicalisation.
bool HttpExchange::agrees(std::string_view authority, std::string_view written) const {
  const acl::Authority a = acl::split_authority(authority);
  const acl::Authority b = acl::split_authority(written);
  const auto port = acl::parse_port(b.has_port ? b.port : default_port());
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
  const bool is_withheld = reason == Reason::revoked || reason == Reason::placeholder_misplaced ||
                           reason == Reason::body_too_large || reason == Reason::secret_found;
  if (is_withheld && connector_.origin) {
    connector_.origin.reset_when_closed();  // bytes still in the kernel must not be sent
    connector_.origin.reset();
  }
  const bool answered = status_ != 0;
  tokens_.settle(status_, reason == Reason::none && answer_is_whole_);
  if (reason == Reason::idle_timeout && !answered) reason = Reason::origin_timeout;
  auto written = client_.context.log.close(client_.peer, request_, reason,
                                           answered ? status_ : acl::status(reason));
  if (reason != Reason::none && !answered) static_cast<void>(co_await written);
  if (origin_reusable_ && !upload_failed_ && reason == Reason::none) {
    be_patient(false);
    connector_.keep_origin(request_);
  }
  if (reason == Reason::none) co_return keep_alive_;
  if (!answered) {
    client_.clear_cancel();
    co_await answer_refusal(client_, request_, reason, false);
  } else {
    client_.stream.reset_when_closed();  // a cut answer must not look complete
  }
  co_return false;
}

}  // namespace stile::session
