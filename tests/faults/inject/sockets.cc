// Calls on sockets and on epoll that fail, or move less than they were asked to.
//
// Whoever is told EAGAIN waits for the next edge, which the kernel owes only after an EAGAIN of its
// own. So after each one that was made up here, and each short count, the descriptor is registered
// anew, which brings the edge: what is injected is a slow kernel, not a broken one.
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "tests/faults/inject/board.h"

namespace {

using stile::faults::Call, stile::faults::fails, stile::faults::outcome_of, stile::faults::real;

struct Registration {
  int epoll = -1;
  epoll_event event{};
};
// A descriptor belongs to one loop, and its thread alone comes here with it.
std::array<Registration, 65536> registered;

using EpollCtl = int(int, int, int, epoll_event*);

int real_epoll_ctl(int epoll, int what, int fd, epoll_event* event) {
  static auto* const next = real<EpollCtl>("epoll_ctl");
  return next(epoll, what, fd, event);
}

void owe_an_edge(int fd) {
  const int before = errno;
  if (fd >= 0 && static_cast<std::size_t>(fd) < registered.size()) {
    Registration& known = registered[static_cast<std::size_t>(fd)];
    if (known.epoll >= 0) real_epoll_ctl(known.epoll, EPOLL_CTL_MOD, fd, &known.event);
  }
  errno = before;
}

// Before the call: true if it is over. A short count makes `size` smaller.
struct Transfer {
  Transfer(Call call, std::size_t& size) : outcome{outcome_of(call).value_or(0)} {
    if (outcome == stile::faults::short_count && size > 1) size = 1 + size / 7;
    if (outcome > 0) errno = outcome;
  }
  [[nodiscard]] bool is_over() const { return outcome > 0; }
  // After it.
  ssize_t returns(ssize_t result, int fd, int other = -1) const {
    if (outcome == EAGAIN || outcome == stile::faults::short_count) {
      owe_an_edge(fd);
      owe_an_edge(other);
    }
    return result;
  }
  int outcome;
};

}  // namespace

extern "C" {

int accept4(int fd, sockaddr* address, socklen_t* size, int flags) {
  static auto* const next = real<int(int, sockaddr*, socklen_t*, int)>("accept4");
  return fails(Call::accept) ? -1 : next(fd, address, size, flags);
}

int accept(int fd, sockaddr* address, socklen_t* size) {
  static auto* const next = real<int(int, sockaddr*, socklen_t*)>("accept");
  return fails(Call::accept) ? -1 : next(fd, address, size);
}

int connect(int fd, const sockaddr* address, socklen_t size) {
  static auto* const next = real<int(int, const sockaddr*, socklen_t)>("connect");
  return fails(Call::connect) ? -1 : next(fd, address, size);
}

int socket(int domain, int type, int protocol) noexcept {
  static auto* const next = real<int(int, int, int)>("socket");
  return fails(Call::socket) ? -1 : next(domain, type, protocol);
}

int pipe2(int* ends, int flags) noexcept {
  static auto* const next = real<int(int*, int)>("pipe2");
  return fails(Call::pipe) ? -1 : next(ends, flags);
}

ssize_t recv(int fd, void* buffer, std::size_t size, int flags) {
  static auto* const next = real<ssize_t(int, void*, std::size_t, int)>("recv");
  const Transfer transfer{Call::recv, size};
  return transfer.returns(transfer.is_over() ? -1 : next(fd, buffer, size, flags), fd);
}

ssize_t send(int fd, const void* data, std::size_t size, int flags) {
  static auto* const next = real<ssize_t(int, const void*, std::size_t, int)>("send");
  const Transfer transfer{Call::send, size};
  return transfer.returns(transfer.is_over() ? -1 : next(fd, data, size, flags), fd);
}

ssize_t splice(int from, off64_t* from_offset, int to, off64_t* to_offset, std::size_t size,
               unsigned flags) {
  static auto* const next =
      real<ssize_t(int, off64_t*, int, off64_t*, std::size_t, unsigned)>("splice");
  const Transfer transfer{Call::splice, size};
  return transfer.returns(
      transfer.is_over() ? -1 : next(from, from_offset, to, to_offset, size, flags), from, to);
}

int epoll_wait(int epoll, epoll_event* events, int count, int timeout) {
  static auto* const next = real<int(int, epoll_event*, int, int)>("epoll_wait");
  stile::faults::note_wait_for_events();
  return fails(Call::epoll_wait) ? -1 : next(epoll, events, count, timeout);
}

int epoll_ctl(int epoll, int what, int fd, epoll_event* event) noexcept {
  // Only a new registration takes memory in the kernel.
  if (what == EPOLL_CTL_ADD && fails(Call::epoll_add)) return -1;
  const int result = real_epoll_ctl(epoll, what, fd, event);
  if (result == 0 && fd >= 0 && static_cast<std::size_t>(fd) < registered.size()) {
    Registration& known = registered[static_cast<std::size_t>(fd)];
    known = what == EPOLL_CTL_DEL ? Registration{} : Registration{epoll, *event};
  }
  return result;
}
}
