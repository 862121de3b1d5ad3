// TaskChannel: small fixed messages over a pair of sockets that keep their borders.
#include "netns/task_channel.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/system_error.h"

namespace stile::netns {

Result<std::pair<UniqueFd, UniqueFd>> make_channel() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return system_error("cannot make a channel into the worker");
  }
  return std::pair{UniqueFd{ends[0]}, UniqueFd{ends[1]}};
}

bool send_order(int channel, const Order& order, const Streams* streams) {
  auto copy = order;
  iovec part{&copy, sizeof copy};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> room{};
  if (streams != nullptr) {
    const std::array<int, 2> fds{streams->input.get(), streams->output.get()};
    message.msg_control = room.data();
    message.msg_controllen = room.size();
    cmsghdr* extra = CMSG_FIRSTHDR(&message);
    extra->cmsg_level = SOL_SOCKET;
    extra->cmsg_type = SCM_RIGHTS;
    extra->cmsg_len = CMSG_LEN(sizeof fds);
    std::memcpy(CMSG_DATA(extra), fds.data(), sizeof fds);
  }
  return ::sendmsg(channel, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof copy);
}

std::optional<Order> receive_order(int channel, Streams& streams) {
  Order order;
  iovec part{&order, sizeof order};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> room{};
  message.msg_control = room.data();
  message.msg_controllen = room.size();
  ssize_t got = 0;
  do {
    got = ::recvmsg(channel, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof order)) return std::nullopt;
  const cmsghdr* extra = CMSG_FIRSTHDR(&message);
  std::array<int, 2> fds{-1, -1};
  if (extra != nullptr && extra->cmsg_type == SCM_RIGHTS &&
      extra->cmsg_len == CMSG_LEN(sizeof fds)) {
    std::memcpy(fds.data(), CMSG_DATA(extra), sizeof fds);
  }
  streams = {UniqueFd{fds[0]}, UniqueFd{fds[1]}};
  return order;
}

bool send_report(int channel, const TaskReport& report) {
  return ::send(channel, &report, sizeof report, MSG_NOSIGNAL) ==
         static_cast<ssize_t>(sizeof report);
}

std::optional<TaskReport> receive_report(int channel) {
  TaskReport report;
  ssize_t got = 0;
  do {
    got = ::recv(channel, &report, sizeof report, 0);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof report)) return std::nullopt;
  return report;
}

}  // namespace stile::netns
