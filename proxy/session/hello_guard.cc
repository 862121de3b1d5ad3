// HelloGuard: collects a tunnel's bytes until its second ClientHello, if any, is complete.
#include "proxy/session/hello_guard.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace stile::session {
namespace {

constexpr std::size_t record_header = 5;
constexpr char handshake = 22;

}  // namespace

bool FrozenGuard::is_possible() const noexcept {
  const bool is_between_records = header_seen == 0 && length == 0 && body_left == 0;
  return held.size() <= tls::HelloReader::max_stream_bytes &&
         flight.size() <= tls::HelloReader::max_hello_bytes && header_seen < record_header &&
         (header_seen > 3 || length == 0) && (header_seen == 0 || body_left == 0) &&
         (held.empty() || (is_between_records && held.front() == handshake));
}

HelloGuard::HelloGuard(FrozenGuard frozen) noexcept
    : held_{std::move(frozen.held)},
      flight_{std::move(frozen.flight)},
      header_seen_{frozen.header_seen},
      length_{frozen.length},
      body_left_{frozen.body_left} {}

FrozenGuard HelloGuard::freeze() noexcept {
  return {std::move(held_), std::move(flight_), static_cast<std::uint8_t>(header_seen_),
          static_cast<std::uint16_t>(length_), static_cast<std::uint16_t>(body_left_)};
}

HelloGuard::Step HelloGuard::from_client(std::string_view bytes, std::string& out) {
  if (state_ == State::done) {
    out += bytes;
    return Step::go_on;
  }
  held_ += bytes;
  return advance(out);
}

HelloGuard::Step HelloGuard::from_origin(std::string_view bytes, std::string& out) {
  if (state_ != State::first_flight) return Step::go_on;
  if (!flight_.empty()) bytes = flight_ += bytes;
  switch (tls::classify_server_flight(bytes)) {
    case tls::ServerFlight::need_more:
      if (bytes.size() <= tls::HelloReader::max_hello_bytes) {
        if (flight_.empty()) flight_ = bytes;
        return Step::go_on;
      }
      [[fallthrough]];
    case tls::ServerFlight::other:
      state_ = State::done;
      break;
    case tls::ServerFlight::hello_retry_request:
      state_ = State::second_hello;
      break;
  }
  flight_ = {};
  return advance(out);
}

HelloGuard::Step HelloGuard::advance(std::string& out) {
  if (state_ != State::done) pass_records(out);
  if (state_ == State::done) {
    release(out);
    return Step::go_on;
  }
  if (state_ == State::first_flight) {
    // No TLS client sends that much before it gets an answer: early data is not handshake data, and
    // was passed on.
    return held_.size() <= tls::HelloReader::max_stream_bytes ? Step::go_on : Step::not_tls;
  }
  hello_ = second_.read(held_);
  if (hello_.state == tls::Hello::State::need_more) return Step::go_on;
  return hello_.state == tls::Hello::State::not_tls ? Step::not_tls : Step::judge;
}

void HelloGuard::release(std::string& out) {
  state_ = State::done;
  out += held_;
  held_ = {};
}

// Records other than handshake are passed on byte by byte. An origin reads the same lengths, so
// both agree on where a handshake record begins.
void HelloGuard::pass_records(std::string& out) {
  std::size_t used = 0;
  while (used < held_.size()) {
    const std::size_t here = held_.size() - used;
    if (body_left_ > 0) {
      const std::size_t part = std::min(body_left_, here);
      body_left_ -= part;
      used += part;
    } else {
      // Once a second hello is due, the rest of the stream is read as one.
      if (header_seen_ == 0 && (held_[used] == handshake || awaits_hello())) break;
      const auto byte = static_cast<std::uint8_t>(held_[used++]);
      if (++header_seen_ > 3) length_ = length_ << 8 | byte;
      if (header_seen_ == record_header) {
        body_left_ = std::exchange(length_, 0);
        header_seen_ = 0;
      }
    }
  }
  out.append(held_, 0, used);
  held_.erase(0, used);
}

}  // namespace stile::session
