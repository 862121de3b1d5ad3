// HttpExchange: the origin's answer, checked and reframed on its way to the client.
#include "base/ascii.h"
#include "proxy/http/chunked.h"
#include "proxy/http/forward.h"
#include "proxy/session/http_exchange.h"

namespace stile::session {
namespace {

// Of an answer: `Via`, `Connection`, and what frames its body.
constexpr std::size_t added_to_head = 128;

// `texts` holds what the views of the head point into.
void scrub_head(http::Scrubber& scrubber, http::ResponseHead& head,
                std::vector<std::string>& texts) {
  texts.reserve(2 * head.fields.size() + 1);
  const auto clean = [&](std::string_view text) -> std::string_view {
    return texts.emplace_back(scrubber.scrub(text));
  };
  head.phrase = clean(head.phrase);
  for (http::Field& field : head.fields) field = {clean(field.name), clean(field.value)};
}

}  // namespace

// The answer. 1xx answers are passed on, all of them together within the size limit of one head.
Task<HttpExchange::Reason> HttpExchange::receive() {
  http::ResponseHead head;
  const Reason bad = co_await receive_head(head);
  if (bad != Reason::none) co_return bad;
  // An answer before the request's end: it is unknown where the next request would begin.
  if (upload_runs_) keep_alive_ = false;
  if (head.status == 101) co_return co_await relay_websocket(head);
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
      if (head.status >= 200 || (head.status == 101 && wants_websocket_)) co_return Reason::none;
      interim_bytes += found.consumed;
      // 101: the connection would stop being HTTP, and what follows would not be checked.
      if (head.status == 101 || interim_bytes > most) co_return Reason::origin_bad_response;
      if (client_is_1_1_) {
        write_answer_head(head, http::Framing::none);
      }
      scanner.reset();
      continue;
    }
    from_origin_.erase(0, std::exchange(at, 0));
    if (from_origin_.size() + interim_bytes > most) co_return Reason::origin_bad_response;
    if (!to_client_.empty()) {
      std::uint64_t begun = 0;
      const bool sent = co_await client_.send_to(client_.stream, to_client_, &begun);
      if (!sent) {
        if (begun > 0) status_ = 100;  // part of a head may be sent: no refusal can follow it
        co_return client_.cancelled_or(Reason::idle_timeout);
      }
      to_client_.clear();
    }
    std::string_view got;
    const Reason failed = co_await read_origin(got);
    if (failed != Reason::none) co_return failed;
    if (got.empty()) co_return Reason::origin_bad_response;  // it closed
    from_origin_ += got;
  }
}

// `got` is in the worker's buffer, and valid until the caller next waits. If it is empty and there
// is no reason, the origin has closed.
Task<HttpExchange::Reason> HttpExchange::read_origin(std::string_view& got) {
  auto& buffer = client_.context.relay.buffer;
  for (;;) {
    if (upload_result_ == Reason::none && is_to_wait()) {
      co_await connector_.origin.socket().readable_again();
    } else if (upload_result_ == Reason::none) {
      co_await connector_.origin.socket().readable();
    }
    if (client_.is_cancelled()) co_return client_.cancelled();
    if (upload_result_ != Reason::none) co_return upload_result_;
    const std::size_t allowed = request_.down.take(buffer.size());
    if (allowed == 0) {
      if (request_.down.is_spent()) co_return Reason::budget_exhausted;
      co_await client_.wait_for_refill();
      continue;
    }
    const auto read = connector_.origin.read(buffer.data(), allowed);
    const std::size_t size = read.bytes > 0 ? static_cast<std::size_t>(read.bytes) : 0;
    request_.down.give_back(allowed - size);
    if (read.would_block) continue;
    if (read.bytes < 0) co_return Reason::origin_bad_response;
    got = {buffer.data(), size};
    request_.bytes_down += size;
    burst_ += size;
    client_.set_deadline(client_.context.limits.idle_timeout, Reason::idle_timeout);
    co_return Reason::none;
  }
}

// The values of secrets that an origin sends back become their placeholders.
void HttpExchange::write_answer_head(const http::ResponseHead& head, http::Framing framing) {
  if (!scrubber_) {
    http::write_response_head(to_client_, head, framing, client_is_1_1_, keep_alive_);
    return;
  }
  http::ResponseHead shown = head;
  const bool has_body = framing != http::Framing::none;
  std::erase_if(shown.fields, [&](const http::Field& field) {
    const bool is_gzip = has_body && equal_ignoring_case(field.name, "content-encoding") &&
                         (equal_ignoring_case(field.value, "gzip") ||
                          equal_ignoring_case(field.value, "x-gzip"));  // RFC 9110 8.4.1.3
    if (is_gzip) gunzip_.emplace();
    return is_gzip;
  });
  std::vector<std::string> texts;
  scrub_head(*scrubber_, shown, texts);
  http::write_response_head(to_client_, shown, framing, client_is_1_1_, keep_alive_);
}

// In pieces: a little gzip can become very much data.
Task<HttpExchange::Reason> HttpExchange::send_scrubbed(std::string_view body, bool is_end,
                                                       http::Framing framing) {
  std::string piece, clean;
  bool has_more = true;
  while (has_more) {
    piece.clear();
    if (gunzip_) {
      if (!gunzip_->decode(body, piece, max_burst)) co_return Reason::origin_bad_response;
      has_more = piece.size() == max_burst || !body.empty();
    } else {
      piece = body;
      has_more = false;
    }
    clean.clear();
    scrubber_->feed(piece, clean);
    if (!has_more && is_end) scrubber_->finish(clean);
    if (framing == http::Framing::chunked && !clean.empty()) {
      http::append_chunk(to_client_, clean);
    } else {
      to_client_ += clean;
    }
    if (!has_more || to_client_.empty()) continue;
    status_ = status_ == 0 ? 200 : status_;  // from here on no refusal can follow
    const bool sent = co_await client_.send_to(client_.stream, to_client_);
    if (!sent) co_return client_.cancelled_or(Reason::idle_timeout);
    to_client_.clear();
    // Other connections go first: a client can take all of it as fast as it is made.
    connector_.origin.socket().read_later();
    co_await connector_.origin.socket().readable();
  }
  co_return Reason::none;
}

// From here on both sides send frames, which are counted but not read.
Task<HttpExchange::Reason> HttpExchange::relay_websocket(const http::ResponseHead& head) {
  keep_alive_ = false;
  status_ = head.status;
  http::ResponseHead shown = head;
  std::vector<std::string> texts;
  if (scrubber_) scrub_head(*scrubber_, shown, texts);
  http::write_upgraded_head(to_client_, shown);
  to_client_.append(from_origin_, head_end_);
  from_origin_.clear();
  is_relaying_ = true;
  upload();
  for (;;) {
    const bool sent = co_await client_.send_to(client_.stream, to_client_);
    if (!sent) co_return client_.cancelled_or(Reason::idle_timeout);
    std::string_view got;
    const Reason failed = co_await read_origin(got);
    if (failed != Reason::none) co_return failed;
    if (got.empty()) co_return Reason::none;  // it closed
    to_client_ = client_.send_now(client_.stream, got);
  }
}

Task<HttpExchange::Reason> HttpExchange::receive_body(const http::ResponseHead& head) {
  using http::Framing;
  Framing to_client = http::framing_for_client(head, client_is_1_1_);
  // Scrubbing changes the length.
  if (scrubber_ && to_client == Framing::length) {
    to_client = client_is_1_1_ ? Framing::chunked : Framing::to_close;
  }
  const bool is_leaving = client_.context.shared.leaving.load(std::memory_order_relaxed);
  if (to_client == Framing::to_close || client_.drains || is_leaving) keep_alive_ = false;
  to_client_.reserve(from_origin_.size() + added_to_head);
  write_answer_head(head, to_client);
  tokens_.begin(head);
  from_origin_.erase(0, head_end_);  // the fields of the head were in it

  http::ChunkedDecoder decoder{client_.context.limits.header_bytes};
  std::uint64_t left = head.framing == Framing::length ? head.content_length : 0;
  bool ended = head.framing == Framing::none || (head.framing == Framing::length && left == 0);
  std::string body;  // of this round, if it is scrubbed
  const auto pass = [&](std::string_view data) {
    tokens_.read(data);
    if (scrubber_) {
      body += data;
    } else if (to_client == Framing::chunked) {
      http::append_chunk(to_client_, data);
    } else if (to_client_.empty() && head.framing != Framing::chunked) {
      to_client_ = client_.send_now(client_.stream, data);
    } else {
      to_client_ += data;  // after the head; and chunks can have a single byte
    }
  };
  for (std::string_view input{from_origin_};;) {
    if (head.framing == Framing::length) {
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left, input.size()));
      pass(input.substr(0, size));
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
    from_origin_.clear();  // it held what came with the head
    if (scrubber_ && head.framing != Framing::none) {
      const Reason failed = co_await send_scrubbed(body, ended, to_client);
      if (failed != Reason::none) co_return failed;
      body.clear();
    }
    if (ended && to_client == Framing::chunked) to_client_ += "0\r\n\r\n";
    if (!to_client_.empty() || client_.stream.has_unsent()) {
      status_ = head.status;  // from here on the client has seen some of it
      const bool sent = co_await client_.send_to(client_.stream, to_client_);
      if (!sent) co_return client_.cancelled_or(Reason::idle_timeout);
    }
    to_client_.clear();
    answer_is_whole_ = ended;
    if (ended) co_return Reason::none;
    input = {};
    const Reason failed = co_await read_origin(input);
    if (failed != Reason::none) co_return failed;
    if (!input.empty()) continue;
    if (head.framing != Framing::to_close) co_return Reason::origin_bad_response;  // cut short
    ended = true;
  }
}

}  // namespace stile::session
