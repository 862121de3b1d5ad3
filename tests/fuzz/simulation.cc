// A clock, a network and a disk in the fuzzer's hand: what the linker puts in place of libc's.
#include "tests/fuzz/simulation.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <cerrno>
#include <cstring>

#include "proxy/net/sockaddr.h"

namespace {

stile::fuzz::Simulation* running = nullptr;  // outside of a play, everything is real

}  // namespace

extern "C" {
int __real_epoll_wait(int epoll, epoll_event* events, int most, int timeout);
int __real_connect(int fd, const sockaddr* address, socklen_t size);
ssize_t __real_write(int fd, const void* data, size_t size);

int __wrap_epoll_wait(int epoll, epoll_event* events, int most, int timeout) {
  if (running == nullptr) return __real_epoll_wait(epoll, events, most, timeout);
  const int count = __real_epoll_wait(epoll, events, most, 0);
  if (count != 0 || timeout == 0) return count;
  running->on_idle();
  return __real_epoll_wait(epoll, events, most, 0);
}

int __wrap_connect(int fd, const sockaddr* address, socklen_t size) {
  // Nobody's address dissolves a connection, and dials nobody.
  if (running == nullptr || address->sa_family == AF_UNSPEC) {
    return __real_connect(fd, address, size);
  }
  stile::net::SockAddr target;
  std::memcpy(target.get(), address, size);
  const int error = running->on_connect(fd, target.address(), target.port());
  if (error == 0) return 0;
  errno = error;
  return -1;
}

// The loop wakes itself with eight bytes; everything longer is the audit log.
ssize_t __wrap_write(int fd, const void* data, size_t size) {
  using Disk = stile::fuzz::Simulation::Disk;
  if (running == nullptr || fd <= STDERR_FILENO || size <= 8) return __real_write(fd, data, size);
  running->on_log_write();
  if (running->disk == Disk::fills_up) {
    running->disk = Disk::is_full;
    return __real_write(fd, data, size / 2);
  }
  if (running->disk == Disk::works) return __real_write(fd, data, size);
  errno = ENOSPC;
  return -1;
}
}

namespace stile::fuzz {

Simulation::Simulation() { running = this; }
Simulation::~Simulation() { running = nullptr; }

}  // namespace stile::fuzz
