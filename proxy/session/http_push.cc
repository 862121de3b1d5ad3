// HttpExchange: a git push. Its commands are read and judged before anything goes to the origin.
#include <algorithm>

#include "base/ascii.h"
#include "proxy/http/chunked.h"
#include "proxy/session/http_exchange.h"
#include "proxy/session/refuse.h"

namespace stile::session {
namespace {

constexpr std::size_t max_decoded = 64 * 1024;  // of gzip, at once
// git shows why a push was refused only after it has sent all of it.
constexpr std::uint64_t max_discarded = 64U << 20U;

enum class Coding : std::uint8_t { none, gzip, other };

Coding coding_of(const http::RequestHead& head) {
  Coding coding = Coding::none;
  bool is_first = true;
  for (const http::Field& field : head.fields) {
    if (!equal_ignoring_case(field.name, "content-encoding")) continue;
    const bool is_gzip =
        equal_ignoring_case(field.value, "gzip") || equal_ignoring_case(field.value, "x-gzip");
    coding = is_gzip && is_first ? Coding::gzip : Coding::other;
    is_first = false;
  }
  return coding;
}

}  // namespace

// The head moves out of the client's buffer, which from here on grows with the body.
void HttpExchange::keep_head() {
  kept_head_ = client_.in.substr(0, client_.head_bytes);
  client_.in.erase(0, client_.head_bytes);
  client_.head_bytes = 0;
  http::HeadScanner scanner;
  static_cast<void>(scanner.scan_request(kept_head_, head_));  // it was complete and valid before
  gather_facts(*parse_target());
}

// Reads the body up to the end of the commands. The bytes stay in the client's buffer.
Task<HttpExchange::Reason> HttpExchange::read_push() {
  if (head_.framing == http::Framing::none) co_return Reason::none;
  keep_head();
  push_.emplace();
  const Coding coding = coding_of(head_);
  if (coding == Coding::other) co_return Reason::bad_request;
  client_.set_deadline(client_.context.limits.header_timeout, Reason::header_timeout);
  if (head_.expects_continue) {
    const bool sent = co_await client_.send("HTTP/1.1 100 Continue\r\n\r\n");
    if (!sent) co_return client_.cancelled_or(Reason::idle_timeout);
  }
  http::ChunkedDecoder decoder{client_.context.limits.header_bytes};
  std::optional<http::Gunzip> gunzip;
  if (coding == Coding::gzip) gunzip.emplace();
  std::size_t used = 0;  // of the buffer
  std::string decoded;
  const auto feed = [&](std::string_view data) {
    if (!gunzip) return push_->feed(data) != http::PushReader::State::bad;
    while (!data.empty() &&
           (push_->state() == http::PushReader::State::need_more || push_->must_end())) {
      decoded.clear();
      if (!gunzip->decode(data, decoded, max_decoded)) return false;
      if (push_->feed(decoded) == http::PushReader::State::bad) return false;
    }
    return true;
  };
  for (;;) {
    std::string_view input = std::string_view{client_.in}.substr(used);
    bool has_ended = false;
    if (head_.framing == http::Framing::length) {
      input = input.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(
                                  input.size(), head_.content_length - used)));
      if (!feed(input)) co_return Reason::ref_not_allowed;
      used += input.size();
      has_ended = used == head_.content_length;
    } else {
      auto step = decoder.next(input);
      while (step.kind == http::ChunkedDecoder::Step::Kind::data) {
        if (!feed(step.data)) co_return Reason::ref_not_allowed;
        used += step.consumed;
        step = decoder.next(std::string_view{client_.in}.substr(used));
      }
      used += step.consumed;
      if (step.kind == http::ChunkedDecoder::Step::Kind::bad) co_return Reason::bad_request;
      has_ended = step.kind == http::ChunkedDecoder::Step::Kind::end;
    }
    const bool is_complete = push_->state() == http::PushReader::State::complete;
    const bool is_whole = has_ended && (!gunzip || gunzip->is_complete());
    if (is_complete && (is_whole || !push_->must_end())) break;
    // Chunks can be far larger than what they carry.
    if (has_ended || used > 4 * http::PushReader::max_bytes) co_return Reason::ref_not_allowed;
    const bool more = co_await read_in_turn();
    if (!more) co_return client_.cancelled_or(Reason::bad_request);
  }
  client_.clear_deadline();
  co_return Reason::none;
}

// Under the policy in force: it may have changed since the commands were read.
HttpExchange::Reason HttpExchange::judge_push() {
  const acl::RequestTerms& terms = request_.decision.terms;
  if (terms.push_rules.empty() || head_.framing == http::Framing::none) return Reason::none;
  if (!push_) return Reason::revoked;
  push_fault_ = acl::judge_push(terms, push_->commands());
  return push_fault_.empty() ? Reason::none : Reason::ref_not_allowed;
}

// git prints the reason of an answer in its own format, and nothing of any other answer.
Task<> HttpExchange::refuse_push() {
  const bool written =
      co_await client_.context.log.deny(client_.peer, request_, Reason::ref_not_allowed, 200);
  if (!written) {
    co_await answer_refusal(client_, request_, Reason::audit_unavailable, false);
    co_return;
  }
  co_await discard_body();
  std::string message = "Stile refused this push: ";
  message += push_fault_.empty() ? push_->fault() : push_fault_;
  message += " (ref-not-allowed)";
  const std::string body = http::write_push_refusal(*push_, "ref-not-allowed", message);
  std::string answer =
      "HTTP/1.1 200 OK\r\nX-Stile-Reason: ref-not-allowed\r\n"
      "Content-Type: application/x-git-receive-pack-result\r\nCache-Control: no-store\r\n"
      "Connection: close\r\nContent-Length: ";
  answer.append(std::to_string(body.size())).append("\r\n\r\n").append(body);
  client_.set_deadline(client_.context.limits.header_timeout, Reason::idle_timeout);
  const bool sent = co_await client_.send(answer);
  if (sent) co_await client_.linger();
}

// Reads what is left of the body, within bounds.
Task<> HttpExchange::discard_body() {
  http::ChunkedDecoder decoder = body_decoder_;
  std::uint64_t seen = 0;
  client_.set_deadline(client_.context.limits.header_timeout, Reason::idle_timeout);
  for (;;) {
    std::string_view input{client_.in};
    seen += input.size();
    if (head_.framing == http::Framing::chunked) {
      auto step = decoder.next(input);
      while (step.kind == http::ChunkedDecoder::Step::Kind::data) {
        input.remove_prefix(step.consumed);
        step = decoder.next(input);
      }
      if (step.kind != http::ChunkedDecoder::Step::Kind::need_more) co_return;
    } else if (seen >= head_.content_length) {
      co_return;
    }
    client_.in.clear();
    if (seen > max_discarded) co_return;
    const bool more = co_await read_in_turn();
    if (!more) co_return;
  }
}

}  // namespace stile::session
