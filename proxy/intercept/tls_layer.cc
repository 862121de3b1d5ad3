// TlsLayer: TLS over a stream's socket, with Stile as the server or the client.
#include "proxy/intercept/tls_layer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

namespace stile::intercept {
namespace {

using IoResult = net::Stream::IoResult;

// One write takes at most this much, so what waits for the socket is bounded.
constexpr std::size_t most_in_a_write = 64 * 1024;
// A peer that never reads but makes TLS answer it (key updates) is cut.
constexpr std::size_t most_unsent = 4 * most_in_a_write;
constexpr std::size_t kept_capacity = 1024;  // of an idle connection
// Records without data in one read: key updates, tickets, alerts. Each costs much more time than
// bytes, and OpenSSL goes on as long as the socket has some. Peers send a few in a connection.
constexpr unsigned most_without_data = 16;
// One read takes at most so many records, since they can have a single byte; then other connections
// go first.
constexpr unsigned most_records = 32;
// One step of a handshake reads at most so much, for the same reason.
constexpr std::size_t most_in_a_step = 16 * 1024;

}  // namespace

BIO_METHOD* TlsLayer::bio_method() noexcept {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "stile socket");
    if (made == nullptr) return made;
    BIO_meth_set_read(made, bio_read);
    BIO_meth_set_write(made, bio_write);
    BIO_meth_set_ctrl(made, bio_ctrl);
    return made;
  }();
  return method;
}

TlsLayer::TlsLayer(Socket& socket, SslPtr ssl, std::string first,
                   std::unique_ptr<SessionKeeper> keeper)
    : socket_{socket}, keeper_{std::move(keeper)}, ssl_{std::move(ssl)}, first_{std::move(first)} {
  SSL_set_app_data(ssl_.get(), keeper_.get());
  BIO* bio = BIO_new(bio_method());
  if (bio == nullptr) throw std::bad_alloc{};
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_.get(), bio, bio);
  SSL_set_read_ahead(ssl_.get(), 1);
  SSL_set_msg_callback(ssl_.get(), note_record);
  SSL_set_msg_callback_arg(ssl_.get(), this);
}

// Called for the head of each record, and for the type inside of an encrypted one.
void TlsLayer::note_record(int is_written, int, int kind, const void* data, std::size_t, SSL* ssl,
                           void* layer) noexcept {
  if (is_written != 0 || (kind != SSL3_RT_HEADER && kind != SSL3_RT_INNER_CONTENT_TYPE)) return;
  auto& self = *static_cast<TlsLayer*>(layer);
  if (!self.is_reading_ || *static_cast<const unsigned char*>(data) == SSL3_RT_APPLICATION_DATA) {
    return;
  }
  if (++self.without_data_ <= most_without_data) return;
  self.has_failed_ = true;
  SSL_set_shutdown(ssl, SSL_RECEIVED_SHUTDOWN);  // OpenSSL reads no further record
}

// OpenSSL forgets the session of a connection that ends without close_notify. It may well be
// resumed: truncation is noticed where it matters, in the body of an answer.
TlsLayer::~TlsLayer() {
  if (keeper_ && !has_failed_) {
    SSL_set_shutdown(ssl_.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
  }
}

int TlsLayer::keep_session(SSL* ssl, SSL_SESSION* session) noexcept {
  auto* const keeper = static_cast<SessionKeeper*>(SSL_get_app_data(ssl));
  if (keeper == nullptr) return 0;
  SessionPtr kept{session};
  try {
    keeper->keep(std::move(kept), SSL_session_reused(ssl) == 1);
  } catch (const std::exception&) {
    // Without memory the next handshake is a full one.
  }
  return 1;  // the session is ours now
}

int TlsLayer::bio_read(BIO* bio, char* buffer, int size) noexcept {
  auto& self = *static_cast<TlsLayer*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  const auto most = std::min(static_cast<std::size_t>(size), self.step_left_.value_or(SIZE_MAX));
  if (most == 0) {
    BIO_set_retry_read(bio);
    return -1;
  }
  if (!self.first_.empty()) {
    const std::size_t part = std::min(most, self.first_.size());
    std::memcpy(buffer, self.first_.data(), part);
    self.first_.erase(0, part);
    if (self.first_.empty()) self.first_.shrink_to_fit();
    if (self.step_left_) *self.step_left_ -= part;
    return static_cast<int>(part);
  }
  if (self.socket_.is_readable()) {
    const auto got = self.socket_.read(buffer, most);
    if (got.bytes > 0 && self.step_left_) *self.step_left_ -= static_cast<std::size_t>(got.bytes);
    if (got.bytes > 0) return static_cast<int>(got.bytes);
    if (!got.would_block) {
      self.saw_end_ = got.bytes == 0;
      return got.bytes == 0 ? 0 : -1;
    }
  }
  BIO_set_retry_read(bio);
  return -1;
}

// Takes all of it: OpenSSL then never has to be called again with the same bytes. Records of data
// go to the socket from where they are; what it does not take is copied.
int TlsLayer::bio_write(BIO* bio, const char* data, int size) noexcept {
  auto& self = *static_cast<TlsLayer*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  std::string_view rest{data, static_cast<std::size_t>(size)};
  if (self.is_writing_ && !self.has_unsent() && self.socket_.is_writable()) {
    // flush() meets a failure again. OpenSSL must not see it: an answer may still be readable.
    const IoResult sent = self.socket_.write(rest.data(), rest.size());
    rest.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(sent.bytes, 0)));
  }
  try {
    if (self.out_.size() - self.sent_ > most_unsent) return -1;
    self.out_ += rest;
  } catch (const std::exception&) {
    return -1;
  }
  return size;
}

long TlsLayer::bio_ctrl(BIO* bio, int command, long, void*) noexcept {
  if (command == BIO_CTRL_FLUSH) return 1;
  if (command == BIO_CTRL_EOF) return static_cast<TlsLayer*>(BIO_get_data(bio))->saw_end_ ? 1 : 0;
  return 0;
}

TlsLayer::Step TlsLayer::handshake() noexcept {
  ERR_clear_error();
  step_left_ = most_in_a_step;
  const int done = SSL_do_handshake(ssl_.get());
  const bool has_more = std::exchange(step_left_, std::nullopt) == std::size_t{0};
  const bool waits = done != 1 && SSL_get_error(ssl_.get(), done) == SSL_ERROR_WANT_READ;
  has_failed_ = done != 1 && !waits;
  if (has_failed_) {
    lacks_http1_ = ERR_GET_REASON(ERR_peek_error()) == SSL_R_NO_APPLICATION_PROTOCOL;
    return Step::failed;
  }
  const IoResult sent = flush();
  if (done == 1) {
    keep_readable();
  } else if (has_more) {
    socket_.read_later();
  }
  if (sent.bytes < 0 && !sent.would_block) return Step::failed;
  return done == 1 && !has_unsent() ? Step::done : Step::wait;
}

// Whatever was read ahead makes no new event.
void TlsLayer::keep_readable() noexcept {
  if (SSL_has_pending(ssl_.get()) == 1 || !first_.empty()) socket_.mark_readable();
}

void TlsLayer::begin_read() noexcept {
  ERR_clear_error();
  is_reading_ = true;
  without_data_ = 0;
}

IoResult TlsLayer::result_of(int returned) noexcept {
  if (has_failed_) return {-1, false, EPROTO};
  switch (SSL_get_error(ssl_.get(), returned)) {
    case SSL_ERROR_WANT_READ:
      return {-1, true, 0};
    case SSL_ERROR_ZERO_RETURN:
      return {0, false, 0};
    default:
      has_failed_ = true;
      return {-1, false, EPROTO};
  }
}

IoResult TlsLayer::read(char* buffer, std::size_t size) noexcept {
  if (has_failed_) return {-1, false, EPROTO};
  begin_read();
  // SSL_read() returns one record at most; a full buffer saves turns and system calls.
  std::size_t total = 0;
  unsigned records = 0;
  int got = 0;
  do {
    got = SSL_read(ssl_.get(), buffer + total, static_cast<int>(size - total));
    if (got > 0) total += static_cast<std::size_t>(got);
  } while (got > 0 && total < size && ++records < most_records && SSL_has_pending(ssl_.get()) == 1);
  is_reading_ = false;
  if (has_unsent()) static_cast<void>(flush());  // an answer of TLS itself
  const IoResult last = got > 0 ? IoResult{-1, true, 0} : result_of(got);
  if (total == 0) return last;
  if (records == most_records) {
    socket_.read_later();
  } else {
    keep_readable();
  }
  if (!last.would_block) socket_.mark_readable();  // an end or error comes after the data
  return {static_cast<ssize_t>(total), false, 0};
}

IoResult TlsLayer::write(const char* data, std::size_t size) noexcept {
  if (has_failed_) return {-1, false, EPIPE};
  if (has_unsent()) {
    const IoResult sent = flush();
    if (sent.bytes < 0 && !sent.would_block) return sent;
    if (has_unsent()) return {-1, true, 0};
  }
  ERR_clear_error();
  size = std::min(size, most_in_a_write);
  is_writing_ = true;
  const int taken = SSL_write(ssl_.get(), data, static_cast<int>(size));
  is_writing_ = false;
  if (taken <= 0) {
    has_failed_ = true;
    return {-1, false, EPIPE};
  }
  const IoResult sent = flush();
  if (sent.bytes < 0 && !sent.would_block) return sent;
  return {taken, false, 0};
}

IoResult TlsLayer::flush() noexcept {
  while (has_unsent()) {
    const IoResult sent = socket_.write(out_.data() + sent_, out_.size() - sent_);
    if (sent.bytes < 0) return sent;
    sent_ += static_cast<std::size_t>(sent.bytes);
  }
  sent_ = 0;
  out_.clear();
  if (out_.capacity() > kept_capacity) out_.shrink_to_fit();
  return {0, false, 0};
}

bool TlsLayer::has_input() noexcept {
  if (has_failed_) return true;
  if (!socket_.is_readable() && SSL_has_pending(ssl_.get()) == 0) return false;
  char byte = 0;
  begin_read();
  const int got = SSL_peek(ssl_.get(), &byte, 1);
  is_reading_ = false;
  if (has_unsent()) static_cast<void>(flush());
  return got > 0 || SSL_get_error(ssl_.get(), got) != SSL_ERROR_WANT_READ;
}

void TlsLayer::end_output() noexcept {
  if (has_failed_) return;
  ERR_clear_error();
  static_cast<void>(SSL_shutdown(ssl_.get()));
  static_cast<void>(flush());
}

}  // namespace stile::intercept
