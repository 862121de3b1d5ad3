// HttpExchange: one plain-HTTP request and its answer, forwarded.
#include "proxy/session/http_exchange.h"

#include <sys/socket.h>

#include <charconv>

#include "proxy/http/chunked.h"
#include "proxy/http/forward.h"
#include "proxy/session/session.h"

namespace stile::session {
namespace {

// What one exchange may move before it lets the other connections have their turn.
constexpr std::size_t max_burst = 1024 * 1024;

void append_chunk(std::string& out, std::string_view data) {
  char size[16];
  const auto end = std::to_chars(size, size + sizeof size, data.size(), 16).ptr;
  out.append(size, end);
  out += "\r\n";
  out += data;
  out += "\r\n";
}

}  // namespace

HttpExchange::HttpExchange(Session& session, http::RequestHead& head)
    : session_{session},
      head_{head},
      client_is_1_1_{head.minor_version == 1},
      keep_alive_{head.keep_alive},
      upload_done_{session.context_.loop} {
  request_.begun = session.context_.loop.now();
  request_.method = std::string{head.method};
  request_.scheme = acl::Scheme::http;
  session_.current_ = &request_;
}

HttpExchange::~HttpExchange() {
  session_.client_->watch(nullptr);
  session_.current_ = nullptr;
}

Task<bool> HttpExchange::run() {
  // The head is written anew by the policy in force, not by that of the last request.
  if (const auto* now = session_.peer_.in(*session_.context_.policy.get()); now != nullptr) {
    session_.peer_.agent = *now;
  }
  Reason reason = read_target();
  if (reason != Reason::none) {
    request_.generation = session_.context_.policy.get()->generation();
    co_await session_.refuse(request_, reason);
    co_return false;
  }
  reason = co_await reach_origin();
  if (reason == Reason::none) reason = session_.still_allowed(request_);
  if (reason == Reason::none) reason = keep_head_up_to_date();
  if (reason == Reason::none) {
    const bool written = co_await session_.write_open(request_);
    if (!written) reason = Reason::audit_unavailable;
  }
  if (reason != Reason::none) {
    // A refusal costs the connection only if a body follows that nobody wants, or the client has
    // shown that it does not know what it says.
    session_.cancelled_ = Reason::none;
    drop_head();
    const bool keep = keep_alive_ && head_.framing == http::Framing::none &&
                      reason != Reason::bad_request && reason != Reason::revoked;
    const bool sent = co_await session_.refuse(request_, reason, keep);
    const bool goes_on = keep && sent && !session_.is_cancelled();
    co_return goes_on;
  }
  // The policy may have changed while the line was written.
  reason = session_.is_cancelled() ? session_.cancelled_ : session_.still_allowed(request_);
  if (reason == Reason::none) reason = keep_head_up_to_date();
  drop_head();
  if (reason != Reason::none) co_return co_await finish(Reason::revoked);
  reason = co_await forward();
  co_return co_await finish(reason);
}

// From the head to what is decided on and what is sent.
HttpExchange::Reason HttpExchange::read_target() {
  const auto target = http::parse_absolute_target(head_.target);
  if (!target) return Reason::bad_request;
  request_.authority = std::string{target->authority};
  request_.path = std::string{target->path};
  if (!acl::split_authority(target->authority).has_port) request_.authority += ":80";
  if (head_.has_host && !http::iequals(target->authority, head_.host) &&
      !host_agrees(request_.authority)) {
    return Reason::bad_request;
  }
  return write_head(*target);
}

// By the policy that the request was judged by.
HttpExchange::Reason HttpExchange::write_head(const http::AbsoluteTarget& target) {
  static const std::vector<std::string> nothing;
  const auto& agent = session_.peer_.agent;
  written_by_ = agent.get();
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

// What is to be stripped may have changed while the request waited for DNS or for the origin.
HttpExchange::Reason HttpExchange::keep_head_up_to_date() {
  if (request_.judged_by.get() == written_by_) return Reason::none;
  return write_head(*http::parse_absolute_target(head_.target));
}

// After this the client's head is not looked at again; what is left in the buffer is the body.
void HttpExchange::drop_head() {
  session_.in_.erase(0, session_.head_bytes_);
  session_.head_bytes_ = 0;
}

// The Host field must name what the target names, after canonicalisation of both.
bool HttpExchange::host_agrees(std::string_view authority) const {
  const acl::Authority a = acl::split_authority(authority);
  const acl::Authority b = acl::split_authority(head_.host);
  const auto port = acl::parse_port(b.has_port ? b.port : "80");
  if (!port || port != acl::parse_port(a.port)) return false;
  const acl::HostParse left = acl::parse_host(a.host), right = acl::parse_host(b.host);
  if (left.kind != right.kind) return false;
  if (left.kind == acl::HostParse::Kind::name) return left.host == right.host;
  return http::iequals(a.host, b.host);
}

// A kept connection to the same origin is used again, once this request has been judged by itself.
Task<HttpExchange::Reason> HttpExchange::reach_origin() {
  Session& s = session_;
  if (s.origin_ && !is_retry_ && s.kept_authority_ == request_.authority && !s.origin_->is_dead() &&
      !s.origin_->is_readable()) {
    s.decide(request_);
    if (!request_.decision.passes()) co_return request_.decision.reason;
    if (request_.decision.awaits_addresses) co_return co_await look_up_and_dial();
    request_.down.draw_on(s.peer_.account->bytes_down);
    const Reason spent = co_await s.charge_first(request_);
    if (spent != Reason::none) co_return spent;
    if (!acl::may_dial(*request_.judged_by, request_.decision, s.kept_address_,
                       *s.context_.own_addresses)) {
      co_return Reason::address_forbidden;
    }
    request_.origin = s.kept_address_;
    origin_reusable_ = true;
    co_return Reason::none;
  }
  co_return co_await look_up_and_dial();
}

Task<HttpExchange::Reason> HttpExchange::look_up_and_dial() {
  Session& s = session_;
  s.origin_.reset();
  const Reason reason = co_await s.connect_to_origin(request_);
  if (reason == Reason::none) {
    s.kept_authority_ = request_.authority;
    s.kept_address_ = *request_.origin;
  }
  co_return reason;
}

Task<HttpExchange::Reason> HttpExchange::forward() {
  Reason reason = Reason::internal_error;
  try {
    reason = co_await transfer();
  } catch (const std::exception&) {
    reason = Reason::internal_error;  // out of memory; the upload below has this exchange in hand
  }
  stop_upload();
  while (upload_runs_) co_await upload_done_;
  if (reason == Reason::none) reason = upload_result_;
  co_return reason;
}

Task<HttpExchange::Reason> HttpExchange::transfer() {
  const bool was_kept = std::exchange(origin_reusable_, false);
  Reason reason = co_await send_head();
  if (reason == Reason::none && head_.framing != http::Framing::none) {
    upload();
  }
  if (reason == Reason::none) reason = co_await receive();
  if (reason == Reason::origin_bad_response && was_kept && from_origin_.empty() && status_ == 0 &&
      head_.framing == http::Framing::none &&
      (request_.method == "GET" || request_.method == "HEAD")) {
    // The origin closed the kept connection while the request was on its way (RFC 9112 9.3.1).
    is_retry_ = true;
    session_.origin_.reset();
    reason = co_await reach_origin();
    if (reason == Reason::none) reason = session_.still_allowed(request_);
    // What is to be stripped may have changed meanwhile, and the client's head is gone.
    if (reason == Reason::none && request_.judged_by.get() != written_by_) {
      reason = Reason::origin_bad_response;
    }
    if (reason == Reason::none) reason = co_await send_head();
    if (reason == Reason::none) reason = co_await receive();
  }
  co_return reason;
}

Task<HttpExchange::Reason> HttpExchange::send_head() {
  session_.set_deadline(session_.context_.limits.idle_timeout, Reason::idle_timeout);
  if (session_.client_->is_dead()) co_return Reason::idle_timeout;
  session_.client_->watch(&session_);
  co_return co_await send_paid(to_origin_);
}

// All of it, or nothing and a reason; waits while what is left of a budget is not on record yet.
Task<HttpExchange::Reason> HttpExchange::pay(std::size_t bytes) {
  for (std::size_t paid = 0;;) {
    paid += request_.up.take(bytes - paid);
    if (paid == bytes) co_return Reason::none;
    const Reason ended = request_.up.is_spent()    ? Reason::budget_exhausted
                         : session_.is_cancelled() ? session_.cancelled_
                         : upload_stopped_         ? Reason::origin_bad_response
                                                   : Reason::none;
    if (ended != Reason::none) {
      request_.up.give_back(paid);
      co_return ended;
    }
    co_await session_.wait_for_refill();
  }
}

Task<HttpExchange::Reason> HttpExchange::send_paid(std::string_view bytes) {
  if (const std::size_t paid = request_.up.take(bytes.size()); paid < bytes.size()) {
    request_.up.give_back(paid);
    const Reason unpaid = co_await pay(bytes.size());
    if (unpaid != Reason::none) co_return unpaid;
  }
  const bool sent = co_await session_.send(*session_.origin_, bytes);
  if (!sent) {
    co_return session_.is_cancelled() ? session_.cancelled_ : Reason::origin_bad_response;
  }
  request_.bytes_up += bytes.size();
  burst_ += bytes.size();
  if (burst_ >= max_burst) {
    burst_ = 0;
    co_await session_.context_.loop.next_turn();
  }
  session_.set_deadline(session_.context_.limits.idle_timeout, Reason::idle_timeout);
  co_return Reason::none;
}

// The request's body, beside the answer. It tells the other half when it fails for a reason that
// the origin does not see.
Detached HttpExchange::upload() {
  upload_runs_ = true;  // only now: without memory for its frame it never runs
  Reason result = Reason::internal_error;
  try {
    result = co_await send_body();
  } catch (const std::exception&) {
    result = Reason::internal_error;
  }
  upload_runs_ = false;
  if (upload_stopped_ || result == Reason::none) {
    // The other half has ended the exchange, or needs nothing from here.
  } else if (result == Reason::origin_bad_response) {
    // The origin may have answered before it closed. If it still waits, it learns here that no more
    // will come; the kernel can refuse a write (ENOBUFS) on a connection that is whole.
    ::shutdown(session_.origin_->fd(), SHUT_WR);
  } else {
    upload_result_ = result;
    session_.origin_->interrupt();
    session_.context_.paused.wake();
  }
  upload_done_.fire();
}

Task<HttpExchange::Reason> HttpExchange::send_body() {
  std::string& in = session_.in_;
  if (head_.framing == http::Framing::length) {
    for (std::uint64_t left = head_.content_length; left > 0;) {
      const bool more = co_await body_is_here();
      if (!more) co_return Reason::bad_request;
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left, in.size()));
      const Reason failed = co_await send_paid(std::string_view{in}.substr(0, size));
      if (failed != Reason::none) co_return failed;
      in.erase(0, size);
      left -= size;
    }
    co_return Reason::none;
  }
  http::ChunkedDecoder decoder{session_.context_.limits.header_bytes};
  std::string out;
  for (;;) {
    const bool more = co_await body_is_here();
    if (!more) co_return Reason::bad_request;
    std::size_t used = 0;
    auto kind = http::ChunkedDecoder::Step::Kind::data;
    while (kind == http::ChunkedDecoder::Step::Kind::data) {
      const auto step = decoder.next(std::string_view{in}.substr(used));
      kind = step.kind;
      used += step.consumed;
      if (kind == http::ChunkedDecoder::Step::Kind::data) append_chunk(out, step.data);
    }
    in.erase(0, used);
    if (kind == http::ChunkedDecoder::Step::Kind::bad) co_return Reason::bad_request;
    const bool ended = kind == http::ChunkedDecoder::Step::Kind::end;
    if (ended) out += "0\r\n\r\n";
    const Reason failed = co_await send_paid(out);
    if (failed != Reason::none || ended) co_return failed;
    out.clear();
  }
}

Task<bool> HttpExchange::body_is_here() {
  while (session_.in_.empty() && !upload_stopped_) {
    const bool more = co_await session_.read_more();
    if (!more) co_return false;
  }
  co_return !upload_stopped_;
}

// The answer. 1xx are passed on, all of them together within the bound of one head.
Task<HttpExchange::Reason> HttpExchange::receive() {
  http::ResponseHead head;
  const Reason bad = co_await receive_head(head);
  if (bad != Reason::none) co_return bad;
  // An answer before the request's end: nobody can say where the next request would begin.
  if (upload_runs_) keep_alive_ = false;
  origin_reusable_ = head.keep_alive && head.framing != http::Framing::to_close;
  co_return co_await receive_body(head);
}

Task<HttpExchange::Reason> HttpExchange::receive_head(http::ResponseHead& head) {
  http::HeadScanner scanner;
  std::size_t interim_bytes = 0;
  for (;;) {
    const auto found = scanner.scan_response(from_origin_, head, request_.method == "HEAD");
    if (found.state == http::ParseState::bad) co_return Reason::origin_bad_response;
    if (found.state == http::ParseState::complete) {
      head_end_ = found.consumed;
      if (head_end_ > session_.context_.limits.header_bytes) co_return Reason::origin_bad_response;
      if (head.status >= 200) co_return Reason::none;
      interim_bytes += found.consumed;
      // 101: the connection would stop being HTTP, and nobody would judge what follows.
      if (head.status == 101 || interim_bytes > session_.context_.limits.header_bytes) {
        co_return Reason::origin_bad_response;
      }
      if (client_is_1_1_) {
        std::string interim;
        http::write_response_head(interim, head, http::Framing::none, true, true);
        const bool sent = co_await answer(interim);
        if (!sent) co_return Reason::idle_timeout;
      }
      from_origin_.erase(0, found.consumed);
      scanner.reset();
      continue;
    }
    if (from_origin_.size() + interim_bytes > session_.context_.limits.header_bytes) {
      co_return Reason::origin_bad_response;
    }
    const std::size_t before = from_origin_.size();
    const Reason failed = co_await read_origin();
    if (failed != Reason::none) co_return failed;
    if (from_origin_.size() == before) co_return Reason::origin_bad_response;  // it closed
  }
}

// Appends what the origin sent; nothing appended and no reason: it has closed.
Task<HttpExchange::Reason> HttpExchange::read_origin() {
  Session& s = session_;
  auto& buffer = s.context_.relay.buffer;
  for (;;) {
    if (upload_result_ == Reason::none) co_await s.origin_->readable();
    if (upload_result_ != Reason::none) co_return upload_result_;
    if (s.is_cancelled()) co_return s.cancelled_;
    const std::size_t allowed = request_.down.take(buffer.size());
    if (allowed == 0) {
      if (request_.down.is_spent()) co_return Reason::budget_exhausted;
      co_await s.wait_for_refill();
      continue;
    }
    const auto got = s.origin_->read(buffer.data(), allowed);
    const std::size_t size = got.bytes > 0 ? static_cast<std::size_t>(got.bytes) : 0;
    request_.down.give_back(allowed - size);
    if (got.would_block) continue;
    if (got.bytes < 0) co_return Reason::origin_bad_response;
    from_origin_.append(buffer.data(), size);
    request_.bytes_down += size;
    burst_ += size;
    if (burst_ >= max_burst) {
      burst_ = 0;
      co_await s.context_.loop.next_turn();
    }
    s.set_deadline(s.context_.limits.idle_timeout, Reason::idle_timeout);
    co_return Reason::none;
  }
}

Task<HttpExchange::Reason> HttpExchange::receive_body(const http::ResponseHead& head) {
  using http::Framing;
  const Framing to_client = http::framing_for_client(head, client_is_1_1_);
  if (to_client == Framing::to_close || session_.drain_) keep_alive_ = false;
  http::write_response_head(to_client_, head, to_client, client_is_1_1_, keep_alive_);
  from_origin_.erase(0, head_end_);

  http::ChunkedDecoder decoder{session_.context_.limits.header_bytes};
  std::uint64_t left = head.framing == Framing::length ? head.content_length : 0;
  bool ended = head.framing == Framing::none || (head.framing == Framing::length && left == 0);
  const auto pass = [&](std::string_view data) {
    if (to_client == Framing::chunked) {
      append_chunk(to_client_, data);
    } else {
      to_client_ += data;
    }
  };
  for (;;) {
    std::string_view input{from_origin_};
    if (head.framing == Framing::length) {
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left, input.size()));
      to_client_ += input.substr(0, size);
      left -= size;
      ended = left == 0;
      if (ended && size < input.size()) origin_reusable_ = false;  // bytes after the end
    } else if (head.framing == Framing::chunked) {
      auto step = decoder.next(input);
      while (step.kind == http::ChunkedDecoder::Step::Kind::data) {
        pass(step.data);
        input.remove_prefix(step.consumed);
        step = decoder.next(input);
      }
      if (step.kind == http::ChunkedDecoder::Step::Kind::bad) co_return Reason::origin_bad_response;
      ended = step.kind == http::ChunkedDecoder::Step::Kind::end;
      if (ended && step.consumed < input.size()) origin_reusable_ = false;
    } else if (head.framing == Framing::to_close) {
      if (!input.empty()) pass(input);
    } else if (!input.empty()) {
      origin_reusable_ = false;
    }
    from_origin_.clear();
    if (ended && to_client == Framing::chunked) to_client_ += "0\r\n\r\n";
    if (!to_client_.empty()) {
      status_ = head.status;  // from here on the client has seen some of it
      const bool sent = co_await answer(to_client_);
      if (!sent) co_return session_.is_cancelled() ? session_.cancelled_ : Reason::idle_timeout;
    }
    to_client_.clear();
    if (ended) co_return Reason::none;
    const Reason failed = co_await read_origin();
    if (failed != Reason::none) co_return failed;
    if (!from_origin_.empty()) continue;
    if (head.framing != Framing::to_close) co_return Reason::origin_bad_response;  // cut short
    ended = true;
  }
}

Task<bool> HttpExchange::answer(std::string_view bytes) {
  co_return co_await session_.send(*session_.client_, bytes);
}

// No coroutine of its own: memory may be what ended the exchange, and the upload must not outlive
// it.
void HttpExchange::stop_upload() noexcept {
  if (!upload_runs_) return;
  upload_stopped_ = true;
  keep_alive_ = false;
  // Wakes the upload wherever it waits, and lets no write succeed any more.
  origin_reusable_ = false;
  ::shutdown(session_.origin_->fd(), SHUT_RDWR);
  session_.client_->interrupt();
  session_.origin_->interrupt();
  session_.context_.paused.wake();
}

// The one place where an exchange that was let through ends: its line, and what the client sees of
// the failure.
Task<bool> HttpExchange::finish(Reason reason) {
  Session& s = session_;
  s.disarm();
  const bool answered = status_ != 0;
  if (reason == Reason::idle_timeout && !answered) reason = Reason::origin_timeout;
  RequestRecord line{audit::Event::close, s.peer_, request_};
  line.record.verdict = reason == Reason::none ? request_.verdict_when_open() : acl::Verdict::deny;
  line.record.reason = reason == Reason::none ? request_.would_deny : reason;
  line.record.status = answered ? status_ : acl::status(reason);
  line.record.bytes_up = request_.bytes_up;
  line.record.bytes_down = request_.bytes_down;
  line.record.duration_ms = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(s.context_.loop.now() - request_.begun)
          .count());
  if (reason == Reason::none || answered) {
    s.context_.audit.add(line.record);
  } else {
    static_cast<void>(co_await s.context_.audit.write(line.record));
  }
  s.peer_.tally->bytes_up += request_.bytes_up;
  s.peer_.tally->bytes_down += request_.bytes_down;
  if (!origin_reusable_ || reason != Reason::none) s.origin_.reset();
  if (reason == Reason::none) co_return keep_alive_;
  if (!answered) {
    s.cancelled_ = Reason::none;
    co_await s.answer_refusal(request_, reason, false);
  } else {
    s.reset_client();  // a cut answer must not look like a whole one
  }
  co_return false;
}

}  // namespace stile::session
