// HandoverLink: messages with descriptors between two daemons.
#include "proxy/server/handover_link.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "base/local_socket.h"

namespace stile::server {
namespace {

constexpr int send_patience_ms = 5000;
// For a few hundred tunnels at a time; the kernel may allow less.
constexpr int buffer_bytes = 1 << 20;

}  // namespace

HandoverLink::HandoverLink(UniqueFd socket) noexcept : socket_{std::move(socket)} {
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDBUF, &buffer_bytes, sizeof buffer_bytes);
}

Result<std::pair<HandoverLink, UniqueFd>> HandoverLink::make() {
  auto ends = socket_pair(SOCK_SEQPACKET);
  if (!ends) return ends.error();
  return std::pair{HandoverLink{std::move(ends->first)}, std::move(ends->second)};
}

bool HandoverLink::has_room() const noexcept { return wait_until_ready(socket_.get(), POLLOUT, 0); }

bool HandoverLink::send(const Message& message, std::span<const int> descriptors) const {
  const std::string bytes = pack(message);
  while (send_message(socket_.get(), bytes, descriptors, MSG_DONTWAIT) < 0) {
    if (errno != EAGAIN || !wait_until_ready(socket_.get(), POLLOUT, send_patience_ms)) {
      return false;
    }
  }
  return true;
}

HandoverLink::Received HandoverLink::receive_last() {
  ::shutdown(socket_.get(), SHUT_RD);
  return receive({});
}

HandoverLink::Received HandoverLink::receive(std::chrono::milliseconds patience) {
  Received received;
  if (!wait_until_ready(socket_.get(), POLLIN, static_cast<int>(patience.count()))) {
    return received;
  }
  buffer_.resize(Message::max_bytes);
  const auto receive_one = [this] {
    return receive_message(socket_.get(), buffer_, Message::max_descriptors, MSG_DONTWAIT);
  };
  auto got = receive_one();
  // The other process ended without reading all that it was sent. The kernel says so once, before
  // the messages that it sent itself.
  if (got.size < 0 && errno == ECONNRESET) got = receive_one();
  if (got.size <= 0) {
    received.is_closed = got.size == 0 || errno != EAGAIN;
    return received;
  }
  if (got.is_cut) {
    received.problem = "a message of the other daemon was cut off";
    return received;
  }
  auto message = unpack_message({buffer_.data(), static_cast<std::size_t>(got.size)});
  if (!message) {
    received.problem = message.error().message;
    return received;
  }
  message->descriptors = std::move(got.descriptors);
  received.message = std::move(*message);
  return received;
}

}  // namespace stile::server
