// HttpExchange: the origin's answer, checked and reframed on its way to the client.
#include "proxy/http/chunked.h"
#include "proxy/http/forward.h"
#include "proxy/session/http_exchange.h"

namespace stile::session {

// The answer. 1xx answers are passed on, all of them together within the size limit of one head.
Task<HttpExchange::Reason> HttpExchange::receive() {
  http::ResponseHead head;
  const Reason bad = co_await receive_head(head);
  if (bad != Reason::none) co_return bad;
  // An answer before the request's end: it is unknown where the next request would begin.
  if (upload_runs_) keep_alive_ = false;
  origin_reusable_ = head.keep_alive && head.framing != http::Framing::to_close;
  co_return co_await receive_body(head);
}

// Interim answers that arrive together are sent together, the last of them with the answer itself:
// sending each alone would cost a system call, and an origin can send thousands.
Task<HttpExchange::Reason> HttpExchange::receive_head(http::ResponseHead& head) {
  const std::size_t most = client_.context.limits.header_bytes;
  http::HeadScanner scanner;
  std::size_t interim_bytes = 0;
  for (std::size_t at = 0;;) {
    const auto found = scanner.scan_response(std::string_view{from_origin_}.substr(at), head,
                                             request_.method == "HEAD");
    if (found.state == http::ParseState::bad) co_return Reason::origin_bad_response;
    if (found.state == http::ParseState::complete) {
      if (found.consumed > most) co_return Reason::origin_bad_response;
      at += found.consumed;
      head_end_ = at;
      if (head.status >= 200) co_return Reason::none;
      interim_bytes += found.consumed;
      // 101: the connection would stop being HTTP, and what follows would not be checked.
      if (head.status == 101 || interim_bytes > most) co_return Reason::origin_bad_response;
      if (client_is_1_1_) {
        http::write_response_head(to_client_, head, http::Framing::none, true, true);
      }
      scanner.reset();
      continue;
    }
    from_origin_.erase(0, std::exchange(at, 0));
    if (from_origin_.size() + interim_bytes > most) co_return Reason::origin_bad_response;
    if (!to_client_.empty()) {
      std::uint64_t begun = 0;
      const bool sent = co_await client_.send_to(*client_.socket, to_client_, &begun);
      if (!sent) {
        if (begun > 0) status_ = 100;  // part of a head may be sent: no refusal can follow it
        co_return client_.cancelled_or(Reason::idle_timeout);
      }
      to_client_.clear();
    }
    const std::size_t before = from_origin_.size();
    const Reason failed = co_await read_origin();
    if (failed != Reason::none) co_return failed;
    if (from_origin_.size() == before) co_return Reason::origin_bad_response;  // it closed
  }
}

// Appends what the origin sent. If it appends nothing and returns no reason, the origin has closed.
Task<HttpExchange::Reason> HttpExchange::read_origin() {
  auto& buffer = client_.context.relay.buffer;
  for (;;) {
    if (upload_result_ == Reason::none && is_to_wait()) {
      co_await connector_.origin->readable_again();
    } else if (upload_result_ == Reason::none) {
      co_await connector_.origin->readable();
    }
    if (client_.is_cancelled()) co_return client_.cancelled();
    if (upload_result_ != Reason::none) co_return upload_result_;
    const std::size_t allowed = request_.down.take(buffer.size());
    if (allowed == 0) {
      if (request_.down.is_spent()) co_return Reason::budget_exhausted;
      co_await client_.wait_for_refill();
      continue;
    }
    const auto got = connector_.origin->read(buffer.data(), allowed);
    const std::size_t size = got.bytes > 0 ? static_cast<std::size_t>(got.bytes) : 0;
    request_.down.give_back(allowed - size);
    if (got.would_block) continue;
    if (got.bytes < 0) co_return Reason::origin_bad_response;
    from_origin_.append(buffer.data(), size);
    request_.bytes_down += size;
    burst_ += size;
    client_.set_deadline(client_.context.limits.idle_timeout, Reason::idle_timeout);
    co_return Reason::none;
  }
}

Task<HttpExchange::Reason> HttpExchange::receive_body(const http::ResponseHead& head) {
  using http::Framing;
  const Framing to_client = http::framing_for_client(head, client_is_1_1_);
  if (to_client == Framing::to_close || client_.drains) keep_alive_ = false;
  http::write_response_head(to_client_, head, to_client, client_is_1_1_, keep_alive_);
  from_origin_.erase(0, head_end_);

  http::ChunkedDecoder decoder{client_.context.limits.header_bytes};
  std::uint64_t left = head.framing == Framing::length ? head.content_length : 0;
  bool ended = head.framing == Framing::none || (head.framing == Framing::length && left == 0);
  const auto pass = [&](std::string_view data) {
    if (to_client == Framing::chunked) {
      http::append_chunk(to_client_, data);
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
      const bool sent = co_await client_.send_to(*client_.socket, to_client_);
      if (!sent) co_return client_.cancelled_or(Reason::idle_timeout);
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

}  // namespace stile::session
