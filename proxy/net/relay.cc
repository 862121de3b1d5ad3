// Relay: moves bytes between two sockets, both ways, until both have ended.
#include "proxy/net/relay.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <exception>

namespace stile::net {
namespace {

// A read of this size means bulk data: from here on splice is cheaper than copying (measured).
constexpr std::size_t bulk_read = 16 * 1024;
// So many smaller reads in a row end the bulk mode; a stream has some when the reader catches up.
constexpr int small_reads_in_bulk = 4;
constexpr std::size_t splice_chunk = 256 * 1024;
// The most that one direction moves before the other connections go first.
constexpr std::size_t burst_bytes = 256 * 1024;

}  // namespace

Relay::Relay(RelayResources& resources, SocketPtr client, SocketPtr origin)
    : resources_{resources},
      client_{std::move(client)},
      origin_{std::move(origin)},
      last_byte_{resources.loop.now()} {
  client_->watch(this);
  origin_->watch(this);
}

Relay::~Relay() {
  resources_.pipes.give_back(std::move(up_.pipe));
  resources_.pipes.give_back(std::move(down_.pipe));
}

void Relay::begin(std::string_view first, std::size_t held) {
  const std::size_t paid = up_.meter.take(first.size() + held);
  up_.bytes += paid;
  up_.debt = first.size() + held - paid;
  if (up_.debt == 0 && !first.empty() && origin_->is_writable()) {
    // If this fails, the next write of the remainder reports it.
    const auto sent = origin_->write(first.data(), first.size());
    if (sent.bytes > 0) first.remove_prefix(static_cast<std::size_t>(sent.bytes));
  }
  if (!first.empty()) up_.unsent = std::make_unique<std::string>(first);
  on_ready(*client_);  // for readiness from before the relay watched
}

void Relay::reset_both() noexcept {
  client_->reset_when_closed();
  origin_->reset_when_closed();
}

void Relay::cut_client() noexcept {
  client_->watch(nullptr);
  origin_->watch(nullptr);
  unlink();
  // Dissolving the association (connect(2)) sends the reset without the cost of closing the socket.
  // A unix socket refuses this; it is closed later.
  const sockaddr nobody{AF_UNSPEC, {}};
  static_cast<void>(::connect(client_->fd(), &nobody, sizeof nobody));
}

void Relay::on_ready(Socket& socket) {
  try {
    move_on(socket);
  } catch (const std::exception&) {
    // No memory. Bytes may have been read and lost: nothing may follow them.
    reset_both();
    on_end(End::failed);
  }
}

void Relay::move_on(Socket& socket) {
  // A ready socket can unblock either direction: it can be readable or writable.
  const Step up = pump(up_, *client_, *origin_);
  if (end_if_cut(up)) return;
  const Step down = pump(down_, *origin_, *client_);
  if (end_if_cut(down)) return;
  const bool is_bulk = up_.is_bulk || down_.is_bulk;
  client_->be_patient(is_bulk);
  origin_->be_patient(is_bulk);
  if (up == Step::again || down == Step::again) {
    socket.call_again();
  } else if ((up_.sent_end && down_.sent_end) || (up_.saw_end && client_->is_dead())) {
    // In the second case data from the origin can no longer reach the client.
    on_end(End::finished);
  } else if (client_->was_lost()) {
    // While the origin accepts nothing, the relay does not read the client and would not notice.
    // Its pending bytes are dropped.
    reset_both();
    on_end(End::failed);
  }
}

bool Relay::end_if_cut(Step step) {
  if (step != Step::failed && step != Step::budget_spent) return false;
  reset_both();
  on_end(step == Step::failed ? End::failed : End::budget_spent);
  return true;
}

Relay::Step Relay::pump(Direction& way, Socket& from, Socket& to) {
  if (way.sent_end) return Step::wait;
  if (way.debt > 0 && !pay(way)) return pause();
  for (std::size_t moved = 0; moved < burst_bytes;) {
    if (const Step step = flush(way, to); step != Step::again) return step;
    if (way.is_over_budget) return Step::budget_spent;
    if (way.saw_end) {
      // Once both directions have ended, closing the socket has the same effect.
      const Direction& back = &way == &up_ ? down_ : up_;
      if (!back.sent_end) ::shutdown(to.fd(), SHUT_WR);
      way.sent_end = true;
      return Step::wait;
    }
    if (way.pipe && !way.is_bulk) resources_.pipes.give_back(std::move(way.pipe));
    if (!from.is_readable()) return Step::wait;
    const bool may_splice = way.is_bulk && !is_filtered_ && !from.has_mark();
    const Step step = may_splice ? splice(way, from, to, moved) : copy(way, from, to, moved);
    if (step != Step::again) return step;
  }
  return Step::again;
}

// False: not all bytes read before are charged yet. If the budget cannot cover them, the part that
// was charged goes out, and then the tunnel ends.
bool Relay::pay(Direction& way) {
  const std::size_t paid = way.meter.take(way.debt);
  way.bytes += paid;
  way.debt -= paid;
  if (way.debt == 0) return true;
  if (!way.meter.is_spent()) return false;
  if (way.unsent && way.unsent->size() > way.debt) {
    way.unsent->resize(way.unsent->size() - way.debt);
  } else {
    way.unsent.reset();
  }
  way.debt = 0;
  way.is_over_budget = true;
  return true;
}

Relay::Step Relay::pause() {
  resources_.paused.add(*this);
  return Step::wait;
}

// Bytes read before go out before anything else is read.
Relay::Step Relay::flush(Direction& way, Socket& to) {
  if (way.unsent) {
    if (!to.is_writable()) return Step::wait;
    const auto sent = to.write(way.unsent->data(), way.unsent->size());
    if (sent.would_block) return Step::wait;
    if (sent.bytes < 0) return Step::failed;
    way.unsent->erase(0, static_cast<std::size_t>(sent.bytes));
    if (!way.unsent->empty()) return Step::wait;
    way.unsent.reset();
  }
  while (way.pipe && way.pipe->bytes > 0) {
    if (!to.is_writable()) return Step::wait;
    const ssize_t sent = ::splice(way.pipe->read_end.get(), nullptr, to.fd(), nullptr,
                                  way.pipe->bytes, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    if (sent > 0) {
      way.pipe->bytes -= static_cast<std::size_t>(sent);
    } else if (sent < 0 && errno == EAGAIN) {
      to.clear_writable();
      return Step::wait;
    } else if (sent == 0 || errno != EINTR) {
      return Step::failed;
    }
  }
  return Step::again;
}

// Bytes for the origin are kept as unsent of that direction, and go out when it is next served.
bool Relay::pass_filter(Direction& way, std::string_view& bytes) {
  std::string to_origin;
  if (!filter(&way == &up_, bytes, to_origin)) return false;
  // After its end the origin takes nothing more.
  if (!to_origin.empty() && !up_.sent_end) {
    if (!up_.unsent) up_.unsent = std::make_unique<std::string>();
    *up_.unsent += to_origin;
  }
  if (&way == &up_) {
    bytes = {};
  } else if (up_.unsent) {
    client_->call_again();  // the other direction was already served
  }
  return true;
}

Relay::Step Relay::copy(Direction& way, Socket& from, Socket& to, std::size_t& moved) {
  auto& buffer = resources_.buffer;
  const std::size_t allowed = way.meter.take(buffer.size());
  if (allowed == 0) return way.meter.is_spent() ? Step::budget_spent : pause();
  const auto got = from.read(buffer.data(), allowed);
  const std::size_t size = got.bytes > 0 ? static_cast<std::size_t>(got.bytes) : 0;
  way.meter.give_back(allowed - size);
  if (got.would_block) return Step::wait;
  if (got.bytes < 0) return Step::failed;
  if (got.bytes == 0) {
    way.saw_end = true;
    return Step::again;
  }
  way.bytes += size;
  moved += size;
  last_byte_ = resources_.loop.now();
  std::string_view bytes{buffer.data(), size};
  if (is_filtered_ && !pass_filter(way, bytes)) return Step::failed;
  way.is_bulk = size >= bulk_read;
  way.small_reads = 0;
  if (to.is_writable() && !bytes.empty()) {
    const auto sent = to.write(bytes.data(), bytes.size());
    if (sent.bytes < 0 && !sent.would_block) return Step::failed;
    if (sent.bytes > 0) bytes.remove_prefix(static_cast<std::size_t>(sent.bytes));
  }
  if (!bytes.empty()) way.unsent = std::make_unique<std::string>(bytes);
  return Step::again;
}

Relay::Step Relay::splice(Direction& way, Socket& from, Socket& to, std::size_t& moved) {
  if (!way.pipe) way.pipe = resources_.pipes.borrow();
  if (!way.pipe) {
    way.is_bulk = false;
    return Step::again;
  }
  const std::size_t allowed = way.meter.take(splice_chunk);
  if (allowed == 0) {
    resources_.pipes.give_back(std::move(way.pipe));
    return way.meter.is_spent() ? Step::budget_spent : pause();
  }
  const ssize_t got = ::splice(from.fd(), nullptr, way.pipe->write_end.get(), nullptr, allowed,
                               SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
  const int error = errno;
  const std::size_t size = got > 0 ? static_cast<std::size_t>(got) : 0;
  way.meter.give_back(allowed - size);
  if (got > 0) {
    way.pipe->bytes += size;
    way.bytes += size;
    moved += size;
    last_byte_ = resources_.loop.now();
    way.small_reads = size < bulk_read ? way.small_reads + 1 : 0;
    if (way.small_reads == small_reads_in_bulk) way.is_bulk = false;  // back to copying
    return flush(way, to);
  }
  // The pipe is empty here, so EAGAIN can only mean the socket is.
  if (got < 0 && error == EINTR) return Step::again;
  resources_.pipes.give_back(std::move(way.pipe));
  if (got == 0) {
    way.is_bulk = false;  // the end, or urgent data before it: the next read shows which
    from.meet_mark();
    return Step::again;
  }
  if (error != EAGAIN) return Step::failed;
  from.clear_readable();
  return Step::wait;
}

}  // namespace stile::net
