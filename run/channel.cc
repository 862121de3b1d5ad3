// StepChannel: synchronizes the process outside with the first process inside until the command
// starts.
#include "run/channel.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/system_error.h"

namespace stile::run {
namespace {

// One byte, and room for one descriptor beside it.
struct Message {
  Message() {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
  }
  char byte = '.';
  iovec part{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room{};
  msghdr header{};
};

}  // namespace

Result<std::pair<StepChannel, StepChannel>> StepChannel::make() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return system_error("cannot make a pair of sockets");
  }
  return std::pair{StepChannel{ends[0]}, StepChannel{ends[1]}};
}

Result<void> StepChannel::send(int descriptor) const {
  Message message;
  if (descriptor >= 0) {
    message.header.msg_control = message.room.data();
    message.header.msg_controllen = message.room.size();
    cmsghdr* extra = CMSG_FIRSTHDR(&message.header);
    extra->cmsg_level = SOL_SOCKET;
    extra->cmsg_type = SCM_RIGHTS;
    extra->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(extra), &descriptor, sizeof descriptor);
  }
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(fd_.get(), &message.header, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent != 1) return system_error("cannot reach the other process");
  return {};
}

Result<UniqueFd> StepChannel::receive() const {
  Message message;
  message.header.msg_control = message.room.data();
  message.header.msg_controllen = message.room.size();
  ssize_t received = 0;
  do {
    received = ::recvmsg(fd_.get(), &message.header, MSG_CMSG_CLOEXEC);
  } while (received < 0 && errno == EINTR);
  if (received != 1) return Error{"the other process has ended"};
  const cmsghdr* extra = CMSG_FIRSTHDR(&message.header);
  if (extra == nullptr || extra->cmsg_type != SCM_RIGHTS) return UniqueFd{};
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(extra), sizeof descriptor);
  return UniqueFd{descriptor};
}

Result<void> StepChannel::await_step() const {
  const auto received = receive();
  if (!received) return received.error();
  return {};
}

Result<UniqueFd> StepChannel::receive_descriptor() const {
  auto received = receive();
  if (received && !*received) return Error{"the other process sent no socket"};
  return received;
}

}  // namespace stile::run
