// local_socket: unix sockets.
#include "base/local_socket.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/system_error.h"

namespace stile {
namespace {

// A msghdr, and room for descriptors beside it.
struct Message {
  Message(char* bytes, std::size_t size, std::size_t descriptors) : part{bytes, size} {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    if (descriptors == 0) return;
    header.msg_control = room.data();
    header.msg_controllen = CMSG_SPACE(descriptors * sizeof(int));
  }
  iovec part;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(max_message_descriptors * sizeof(int))> room{};
  msghdr header{};
};

}  // namespace

std::optional<sockaddr_un> unix_address(std::string_view path) noexcept {
  if (path.size() > max_socket_path) return std::nullopt;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

bool connect_unix(int socket, std::string_view path) noexcept {
  const auto address = unix_address(path);
  if (!address) errno = ENAMETOOLONG;
  return address && ::connect(socket, generic(*address), sizeof *address) == 0;
}

Result<UniqueFd> listen_unix(const std::string& path, mode_t mask, int backlog) {
  const auto address = unix_address(path);
  if (!address) return Error{path + " is too long for a socket"};
  ::unlink(path.c_str());
  UniqueFd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  const auto before = ::umask(mask);
  const bool is_bound = fd && ::bind(fd.get(), generic(*address), sizeof *address) == 0 &&
                        ::listen(fd.get(), backlog) == 0;
  ::umask(before);
  if (!is_bound) return system_error(path);
  return fd;
}

Result<std::pair<UniqueFd, UniqueFd>> socket_pair(int type) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return system_error("cannot make a pair of sockets");
  }
  return std::pair{UniqueFd{ends[0]}, UniqueFd{ends[1]}};
}

std::optional<ucred> peer_credentials(int socket) noexcept {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return peer;
}

bool wait_until_ready(int fd, short events, int timeout_ms) noexcept {
  pollfd entry{fd, events, 0};
  int count = 0;
  while ((count = ::poll(&entry, 1, timeout_ms)) < 0 && errno == EINTR) {
  }
  return count > 0;
}

ssize_t send_message(int socket, std::string_view bytes, std::span<const int> descriptors,
                     int flags) {
  if (descriptors.size() > max_message_descriptors) {
    errno = E2BIG;
    return -1;
  }
  auto* const read_only = const_cast<char*>(bytes.data());  // NOLINT(*-const-cast): by sendmsg(2)
  Message message{read_only, bytes.size(), descriptors.size()};
  if (!descriptors.empty()) {
    cmsghdr* extra = CMSG_FIRSTHDR(&message.header);
    extra->cmsg_level = SOL_SOCKET;
    extra->cmsg_type = SCM_RIGHTS;
    extra->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(extra), descriptors.data(), descriptors.size_bytes());
  }
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(socket, &message.header, flags | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent;
}

ReceivedMessage receive_message(int socket, std::span<char> room, std::size_t most_descriptors,
                                int flags) {
  Message message{room.data(), room.size(), std::min(most_descriptors, max_message_descriptors)};
  ReceivedMessage received;
  do {
    received.size = ::recvmsg(socket, &message.header, flags | MSG_CMSG_CLOEXEC);
  } while (received.size < 0 && errno == EINTR);
  if (received.size < 0) return received;
  received.is_cut = (message.header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message.header); part != nullptr;
       part = CMSG_NXTHDR(&message.header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
      received.descriptors.emplace_back(fd);
    }
  }
  return received;
}

}  // namespace stile
