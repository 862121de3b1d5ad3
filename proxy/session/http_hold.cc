// HttpExchange: reading a body before anything of it goes on, for what has to see it first.
#include <algorithm>

#include "base/ascii.h"
#include "proxy/http/chunked.h"
#include "proxy/http/fields.h"
#include "proxy/http/graphql.h"
#include "proxy/session/http_exchange.h"

namespace stile::session {

HeldBody HttpExchange::held_body(std::string& joined) const {
  const std::string_view input = std::string_view{client_.in}.substr(client_.head_bytes);
  if (head_.framing == http::Framing::length) {
    const auto size =
        static_cast<std::size_t>(std::min<std::uint64_t>(head_.content_length, input.size()));
    return {input.substr(0, size), size == head_.content_length};
  }
  if (head_.framing == http::Framing::none) return {{}, true};
  http::ChunkedDecoder decoder = body_decoder_;
  joined = held_chunks_;
  auto step = decoder.next(input);
  for (std::size_t used = 0; step.kind == http::ChunkedDecoder::Step::Kind::data;) {
    joined += step.data;
    used += step.consumed;
    step = decoder.next(input.substr(used));
  }
  return {joined, step.kind == http::ChunkedDecoder::Step::Kind::end};
}

// Step 11 of a request that may only ask.
HttpExchange::Reason HttpExchange::judge_query() {
  if (!request_.decision.terms.needs_query) return Reason::none;
  bool is_json = false;
  for (const http::Field& field : head_.fields) {
    // An encoded body, or one of another type, would be read differently by the origin. Some take
    // Content_Type for the field, too.
    if (http::equals_folded(field.name, "content-encoding")) return Reason::method_not_allowed;
    if (!http::equals_folded(field.name, "content-type")) continue;
    if (is_json || field.name.find('_') != std::string_view::npos) {
      return Reason::method_not_allowed;
    }
    is_json = equal_ignoring_case(field.value, "application/json") ||
              equal_ignoring_case(field.value, "application/json; charset=utf-8") ||
              equal_ignoring_case(field.value, "application/json;charset=utf-8");
    if (!is_json) return Reason::method_not_allowed;
  }
  std::string joined;
  const HeldBody body = held_body(joined);
  if (!body.is_whole) return Reason::body_too_large;
  const std::string_view fault =
      is_json ? http::fault_of_graphql(body.text) : "the body is not JSON";
  request_.query_fault = fault;
  return fault.empty() ? Reason::none : Reason::method_not_allowed;
}

// Moves what came of a chunked body out of the client's buffer, up to the end of the body.
http::ChunkedDecoder::Step::Kind HttpExchange::take_chunks(std::string& to) {
  std::size_t used = 0;
  for (;;) {
    const auto step = body_decoder_.next(std::string_view{client_.in}.substr(used));
    used += step.consumed;
    if (step.kind != http::ChunkedDecoder::Step::Kind::data) {
      client_.in.erase(0, used);
      return step.kind;
    }
    to += step.data;
  }
}

// Reads the body as far as it is held. The bytes stay in the client's buffer; of chunks only their
// data is kept, since their lines can be a thousand times as long.
Task<HttpExchange::Reason> HttpExchange::hold_body() {
  if (head_.framing == http::Framing::none) co_return Reason::none;
  const bool is_chunked = head_.framing == http::Framing::chunked;
  if (is_chunked && client_.head_bytes > 0) keep_head();
  bool has_continued = push_.has_value();  // then it has its 100 already
  for (;;) {
    std::size_t held = 0;
    bool is_whole = false;
    if (is_chunked) {
      const auto kind = take_chunks(held_chunks_);
      if (kind == http::ChunkedDecoder::Step::Kind::bad) co_return Reason::bad_request;
      is_whole = kind == http::ChunkedDecoder::Step::Kind::end;
      held = held_chunks_.size();
    } else {
      held = client_.in.size() - client_.head_bytes;
      is_whole = held >= head_.content_length;
    }
    if (is_whole || held >= RequestScan::most_held) break;
    if (client_.head_bytes > 0) keep_head();
    if (head_.expects_continue && !has_continued) {
      has_continued = true;
      const bool sent = co_await client_.send("HTTP/1.1 100 Continue\r\n\r\n");
      if (!sent) co_return client_.cancelled_or(Reason::idle_timeout);
    }
    client_.set_deadline(client_.context.limits.idle_timeout, Reason::idle_timeout);
    const bool more = co_await read_in_turn();
    if (!more) co_return client_.cancelled_or(Reason::bad_request);
  }
  client_.clear_deadline();
  co_return Reason::none;
}

// The head and what is held of the body, under the policy in force. It may be another one when this
// returns.
Task<HttpExchange::Reason> HttpExchange::scan_held() {
  RequestScan::Carried carried{head_, strip_, {}, {}};
  std::string joined;
  if (!scan_.is_current()) {
    carried.target = parse_target()->path_and_query;
    carried.body = held_body(joined);
  }
  const Reason found = co_await scan_.judge(carried);
  co_return found;
}

}  // namespace stile::session
