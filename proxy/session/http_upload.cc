// HttpExchange: the request on its way to the origin, charged to the agent's budget.
#include <sys/socket.h>

#include <utility>

#include "base/wipe.h"
#include "proxy/http/chunked.h"
#include "proxy/session/http_exchange.h"

namespace stile::session {

Task<HttpExchange::Reason> HttpExchange::send_head() {
  client_.set_deadline(client_.context.limits.idle_timeout, Reason::idle_timeout);
  if (client_.stream.socket().is_dead()) co_return Reason::idle_timeout;
  client_.watch_for_loss(Reason::idle_timeout);
  co_return co_await send_paid(to_origin_);
}

// Charges all of it, or nothing and returns a reason; waits while the remainder of a budget is not
// on record yet.
Task<HttpExchange::Reason> HttpExchange::pay(std::size_t bytes) {
  for (std::size_t paid = 0;;) {
    paid += request_.up.take(bytes - paid);
    if (paid == bytes) co_return Reason::none;
    const Reason ended = request_.up.is_spent()   ? Reason::budget_exhausted
                         : client_.is_cancelled() ? client_.cancelled()
                         : upload_stopped_        ? Reason::origin_bad_response
                                                  : Reason::none;
    if (ended != Reason::none) {
      request_.up.give_back(paid);
      co_return ended;
    }
    co_await client_.wait_for_refill();
  }
}

// The bytes may be in the worker's buffer: what cannot be sent at once is copied before a wait. A
// head may have a secret.
Task<HttpExchange::Reason> HttpExchange::send_paid(std::string_view bytes) {
  WipedText copy;
  std::string& kept = copy.text;
  if (const std::size_t paid = request_.up.take(bytes.size()); paid < bytes.size()) {
    request_.up.give_back(paid);
    kept = bytes;
    const Reason unpaid = co_await pay(kept.size());
    if (unpaid != Reason::none) co_return unpaid;
    bytes = kept;
  }
  bytes = client_.send_now(connector_.origin, bytes, &request_.bytes_up);
  if (!bytes.empty() || connector_.origin.has_unsent()) {
    if (kept.empty()) {
      kept = bytes;
      bytes = kept;
    }
    const bool sent = co_await client_.send_to(connector_.origin, bytes, &request_.bytes_up);
    if (!sent) co_return client_.cancelled_or(Reason::origin_bad_response);
  }
  client_.set_deadline(client_.context.limits.idle_timeout, Reason::idle_timeout);
  co_return Reason::none;
}

// Sends the request's body while the answer is received. It interrupts the answer's side if it
// fails for a reason that the origin does not see.
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
    // The answer's side has ended the exchange, or needs no notice.
  } else if (result == Reason::origin_bad_response) {
    // The origin may have answered before it closed. If it still waits, this shows it that no more
    // will come: the kernel can refuse a write (ENOBUFS) on an intact connection. The rest of the
    // body is not the next request.
    upload_failed_ = true;
    keep_alive_ = false;
    ::shutdown(connector_.origin.socket().fd(), SHUT_WR);
  } else {
    upload_result_ = result;
    connector_.origin.socket().interrupt();
    client_.context.paused.wake();
  }
  upload_done_.fire();
}

Task<HttpExchange::Reason> HttpExchange::send_body() {
  std::string& in = client_.in;
  std::string_view data;
  if (is_relaying_) {
    for (;;) {
      const bool more = co_await next_of_body(data);
      if (!more && client_.is_cancelled()) co_return client_.cancelled();
      if (!more) break;
      if (scan_.is_on()) {
        if (in.empty()) in = data;
        burst_ += scan::Search::overlap;  // is looked at again, however little arrived
        const Reason found = co_await scan_.look_at_frames(in);
        if (found != Reason::none) co_return found;
        if (in.empty()) continue;  // it waits for the rest of its message
        data = in;
      }
      const Reason failed = co_await send_paid(data);
      if (failed != Reason::none) co_return failed;
      in.clear();
    }
    if (!upload_stopped_) connector_.origin.end_output();  // the origin ends its side, too
    co_return Reason::none;
  }
  if (head_.framing == http::Framing::length) {
    for (std::uint64_t left = head_.content_length; left > 0;) {
      const bool more = co_await next_of_body(data, left);
      if (!more) co_return why_it_ends();
      const std::size_t size = data.size();
      left -= size;
      const Reason failed = co_await send_piece(data, left == 0);
      if (failed != Reason::none) co_return failed;
      in.erase(0, size);  // what came with the head; later reads are not put there
    }
    co_return Reason::none;
  }
  std::string out, chunks = std::exchange(held_chunks_, {});
  for (bool has_held = !chunks.empty();; has_held = false) {
    if (!has_held && !body_decoder_.has_ended()) {
      const bool more = co_await next_of_body(data);
      if (!more) co_return why_it_ends();
      if (in.empty()) in = data;  // the next request may follow in the same read
    }
    const auto kind = take_chunks(chunks);
    body_bytes_ += chunks.size();
    if (max_body_ && body_bytes_ > *max_body_) co_return Reason::body_too_large;
    if (kind == http::ChunkedDecoder::Step::Kind::bad) co_return Reason::bad_request;
    const bool ended = kind == http::ChunkedDecoder::Step::Kind::end;
    if (scan_.awaits_body()) {
      const Reason found = co_await scan_.look_at(chunks, ended);
      if (found != Reason::none) co_return found;
      chunks = scan_.clean();
      scan_.drop_clean();
    }
    if (!chunks.empty()) http::append_chunk(out, chunks);
    chunks.clear();
    if (ended) out += "0\r\n\r\n";
    const Reason failed = co_await send_paid(out);
    if (failed != Reason::none || ended) co_return failed;
    out.clear();
  }
}

Task<HttpExchange::Reason> HttpExchange::send_piece(std::string_view data, bool is_end) {
  if (!scan_.awaits_body()) co_return co_await send_paid(data);
  const Reason found = co_await scan_.look_at(data, is_end);
  if (found != Reason::none) co_return found;
  const Reason failed = co_await send_paid(scan_.clean());
  scan_.drop_clean();
  co_return failed;
}

// No more of the body will come: Stile cut it, or the client ended it too early.
HttpExchange::Reason HttpExchange::why_it_ends() const noexcept {
  return client_.cancelled_or(Reason::bad_request);
}

// The bytes that came with the head, or new ones in the worker's buffer: valid until the next wait.
Task<bool> HttpExchange::next_of_body(std::string_view& data, std::uint64_t most) {
  data = std::string_view{client_.in}.substr(
      0, static_cast<std::size_t>(std::min<std::uint64_t>(most, client_.in.size())));
  while (data.empty() && !upload_stopped_) {
    if (is_to_wait()) {
      co_await client_.stream.socket().readable_again();
      continue;
    }
    co_await client_.stream.socket().readable();
    if (!client_.read_now(data, most)) co_return false;
    burst_ += data.size();
  }
  co_return !upload_stopped_;
}

// Not a coroutine: lack of memory may have ended the exchange, and the upload must not outlive it.
void HttpExchange::stop_upload() noexcept {
  if (!upload_runs_) return;
  upload_stopped_ = true;
  keep_alive_ = false;
  // Wakes the upload wherever it waits, and makes all further writes fail.
  origin_reusable_ = false;
  ::shutdown(connector_.origin.socket().fd(), SHUT_RDWR);
  client_.stream.socket().interrupt();
  connector_.origin.socket().interrupt();
  client_.context.paused.wake();
}

}  // namespace stile::session
