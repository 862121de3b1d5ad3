// Connection: one connection to the control socket.
#include "control/connection.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/json.h"
#include "base/local_socket.h"

namespace stile::control {
namespace {

namespace asio = boost::asio;

// The unread output of a tail beyond which lines are dropped.
constexpr std::size_t max_unread_bytes = std::size_t{1} << 20;
constexpr std::size_t bytes_sent_at_once = std::size_t{64} << 10;
// A client that does not read its answer for this long is disconnected.
constexpr std::chrono::seconds patience{30};
constexpr std::size_t max_descriptors = 8;  // in one message; more than one is refused

}  // namespace

Connection::Connection(Socket socket, ControlPeer peer, Service& service,
                       std::function<void(Connection&)> on_end)
    : socket_{std::move(socket)},
      stall_{socket_.get_executor()},
      peer_{std::move(peer)},
      service_{service},
      on_end_{std::move(on_end)} {}

void Connection::start() { wait_readable(); }

void Connection::start_with(std::string unread, bool is_at_end) {
  in_ = std::move(unread);
  is_at_end_ = is_at_end;
  go_on();
}

void Connection::pause(bool on) {
  is_paused_ = on;
  if (!on) go_on();
}

std::optional<Connection::Idle> Connection::leave() {
  if (!socket_.is_open() || is_busy_ || is_held_ || is_skipping_ || descriptor_ || !out_.empty()) {
    return std::nullopt;
  }
  const auto self = shared_from_this();
  boost::system::error_code failed;
  UniqueFd socket{socket_.release(failed)};
  if (failed) return std::nullopt;
  stall_.cancel();
  service_.on_closed(*this);
  on_end_(*this);
  return Idle{std::move(socket), std::move(in_), is_at_end_};
}

void Connection::close() {
  if (!socket_.is_open()) return;
  const auto self = shared_from_this();  // on_end_ may hold the last one
  boost::system::error_code ignored;
  socket_.close(ignored);
  stall_.cancel();
  service_.on_closed(*this);
  on_end_(*this);
}

void Connection::wait_readable() {
  if (is_reading_ || !socket_.is_open()) return;
  is_reading_ = true;
  socket_.async_wait(Socket::wait_read,
                     [self = shared_from_this()](const boost::system::error_code& ec) {
                       self->is_reading_ = false;
                       if (ec) return;
                       if (self->receive()) self->go_on();
                     });
}

// The client sends nothing more; a held connection stays open until the client closes it.
void Connection::wait_hang_up() {
  if (is_reading_) return;
  is_reading_ = true;
  socket_.async_wait(Socket::wait_error,
                     [self = shared_from_this()](const boost::system::error_code& ec) {
                       if (!ec) self->close();
                     });
}

bool Connection::receive() {
  std::array<char, 16384> buffer;
  auto received = receive_message(socket_.native_handle(), buffer, max_descriptors, MSG_DONTWAIT);
  if (received.size < 0) {
    if (errno == EAGAIN) return true;
    close();
    return false;
  }
  if (!received.descriptors.empty()) {
    const bool is_one = received.descriptors.size() == 1;
    descriptor_ = is_one ? std::move(received.descriptors.front()) : UniqueFd{};
  }
  if (received.size == 0) is_at_end_ = true;
  in_.append(buffer.data(), static_cast<std::size_t>(received.size));
  return true;
}

// The next whole line; at the end of input also one without a newline. False: none yet.
bool Connection::next_line(std::string& line) {
  for (;;) {
    const auto end = in_.find('\n');
    if (is_skipping_) {
      if (end == std::string::npos) {
        in_.clear();
        return false;
      }
      in_.erase(0, end + 1);
      is_skipping_ = false;
      continue;
    }
    if (end == std::string::npos && in_.size() <= max_request_bytes) {
      if (!is_at_end_ || in_.empty()) return false;
      line = std::exchange(in_, {});
      return true;
    }
    const std::size_t length = std::min(end, in_.size());
    line = in_.substr(0, length);
    // Refuses an oversized line as soon as it is detected, and discards the rest of it.
    is_skipping_ = end == std::string::npos;
    in_.erase(0, is_skipping_ ? length : length + 1);
    return true;
  }
}

void Connection::go_on() {
  if (is_paused_) return;
  const auto self = shared_from_this();
  std::string line;
  // One request at a time, and none before the client has read the last answer.
  while (socket_.is_open() && !is_busy_ && out_.empty() && next_line(line)) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) serve_line(line);
  }
  if (!socket_.is_open() || is_busy_ || !out_.empty()) return;
  if (!is_at_end_) return wait_readable();
  if (is_held_) return wait_hang_up();
  close();
}

void Connection::serve_line(const std::string& line) {
  is_busy_ = true;
  const auto request = parse_request(line, service_.actions());
  if (!request) return fail(request.error());
  if (!peer_.may_change && request->action->access == Action::Access::changes) {
    return fail({ErrorCode::forbidden, std::string{request->action->name} +
                                           " changes something; this socket only shows"});
  }
  service_.serve(*request, shared_from_this());
  if (!is_busy_) descriptor_.reset();  // the request did not use it
}

void Connection::fail(const Failure& failure) {
  std::string line;
  std::string_view message = failure.message;  // the errors of a config end with a newline
  if (message.ends_with('\n')) message.remove_suffix(1);
  {
    JsonObject object{line};
    object.add("ok", false);
    JsonObject error{object.key("error")};
    error.add("code", text(failure.code)).add("message", message);
    if (!failure.hint.empty()) error.add("hint", failure.hint);
  }
  answer(line);
}

void Connection::answer(std::string_view line) {
  if (!socket_.is_open()) return;
  is_busy_ = false;
  out_ += line;
  out_ += '\n';
  flush();
}

void Connection::answer_in_pieces(NextPiece next) {
  next_piece_ = std::move(next);
  send_piece();
}

void Connection::send_piece() {
  if (!socket_.is_open()) return;
  if (!next_piece_(out_)) {
    next_piece_ = nullptr;
    is_busy_ = false;
  }
  flush();
}

bool Connection::push(std::string_view line) {
  if (!socket_.is_open()) return true;
  if (out_.size() + line.size() >= max_unread_bytes) return false;
  out_.append(line).append("\n");
  if (out_.size() >= bytes_sent_at_once) send_pushed();
  return true;
}

void Connection::send_pushed() {
  if (socket_.is_open() && !is_writing_ && !out_.empty()) flush();
}

bool Connection::has_caught_up() const noexcept { return out_.size() <= max_unread_bytes / 2; }

void Connection::flush() {
  while (!out_.empty()) {
    const ssize_t sent =
        ::send(socket_.native_handle(), out_.data(), out_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return wait_writable();
    if (sent <= 0) return close();
    out_.erase(0, static_cast<std::size_t>(sent));
  }
  stall_.cancel();
  // Deferred: the caller of answer() may be in the middle of an operation.
  asio::post(socket_.get_executor(), [self = shared_from_this()] {
    if (!self->socket_.is_open()) return;
    if (self->next_piece_ && self->out_.empty()) return self->send_piece();
    self->go_on();
  });
}

void Connection::wait_writable() {
  if (is_writing_) return;
  is_writing_ = true;
  if (!is_held_) {
    stall_.expires_after(patience);
    stall_.async_wait([self = shared_from_this()](const boost::system::error_code& ec) {
      if (!ec && self->is_writing_) self->close();
    });
  }
  socket_.async_wait(Socket::wait_write,
                     [self = shared_from_this()](const boost::system::error_code& ec) {
                       self->is_writing_ = false;
                       if (!ec && self->socket_.is_open()) self->flush();
                     });
}

}  // namespace stile::control
