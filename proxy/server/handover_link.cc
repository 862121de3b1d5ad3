// HandoverLink: messages with descriptors between two daemons.
#include "proxy/server/handover_link.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/system_error.h"

namespace stile::server {
namespace {

constexpr int send_patience_ms = 5000;
// For a few hundred tunnels at a time; the kernel may allow less.
constexpr int buffer_bytes = 1 << 20;

bool wait_for(int fd, short events, int timeout_ms) {
  pollfd entry{fd, events, 0};
  int count = 0;
  while ((count = ::poll(&entry, 1, timeout_ms)) < 0 && errno == EINTR) {
  }
  return count > 0;
}

void take_descriptors(msghdr& header, std::vector<UniqueFd>& into) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
      into.emplace_back(fd);
    }
  }
}

}  // namespace

HandoverLink::HandoverLink(UniqueFd socket) noexcept : socket_{std::move(socket)} {
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDBUF, &buffer_bytes, sizeof buffer_bytes);
}

Result<std::pair<HandoverLink, UniqueFd>> HandoverLink::make() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return system_error("socketpair");
  }
  return std::pair{HandoverLink{UniqueFd{ends[0]}}, UniqueFd{ends[1]}};
}

bool HandoverLink::has_room() const noexcept { return wait_for(socket_.get(), POLLOUT, 0); }

bool HandoverLink::send(const Message& message, std::span<const int> descriptors) const {
  std::string bytes = pack(message);
  iovec part{bytes.data(), bytes.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(Message::max_descriptors * sizeof(int))> room{};
  if (!descriptors.empty()) {
    if (descriptors.size() > Message::max_descriptors) return false;
    header.msg_control = room.data();
    header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* extra = CMSG_FIRSTHDR(&header);
    extra->cmsg_level = SOL_SOCKET;
    extra->cmsg_type = SCM_RIGHTS;
    extra->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(extra), descriptors.data(), descriptors.size_bytes());
  }
  for (;;) {
    if (::sendmsg(socket_.get(), &header, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return true;
    if (errno == EINTR) continue;
    if (errno != EAGAIN || !wait_for(socket_.get(), POLLOUT, send_patience_ms)) return false;
  }
}

HandoverLink::Received HandoverLink::receive_last() {
  ::shutdown(socket_.get(), SHUT_RD);
  return receive({});
}

HandoverLink::Received HandoverLink::receive(std::chrono::milliseconds patience) {
  Received received;
  if (!wait_for(socket_.get(), POLLIN, static_cast<int>(patience.count()))) return received;
  buffer_.resize(Message::max_bytes);
  iovec part{buffer_.data(), buffer_.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(Message::max_descriptors * sizeof(int))> room{};
  header.msg_control = room.data();
  header.msg_controllen = room.size();
  ssize_t got = ::recvmsg(socket_.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  // The other process ended without reading all that it was sent. The kernel says so once, before
  // the messages that it sent itself.
  if (got < 0 && errno == ECONNRESET) {
    got = ::recvmsg(socket_.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  }
  if (got < 0) {
    received.is_closed = errno != EAGAIN && errno != EINTR;
    return received;
  }
  std::vector<UniqueFd> descriptors;
  take_descriptors(header, descriptors);
  if (got == 0) {
    received.is_closed = true;
    return received;
  }
  if ((header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    received.problem = "a message of the other daemon was cut off";
    return received;
  }
  auto message = unpack_message({buffer_.data(), static_cast<std::size_t>(got)});
  if (!message) {
    received.problem = message.error().message;
    return received;
  }
  message->descriptors = std::move(descriptors);
  received.message = std::move(*message);
  return received;
}

}  // namespace stile::server
