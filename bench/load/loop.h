// The generator's event loop: watchers told of ready sockets, one batch a turn.
#pragma once

#include <sys/epoll.h>

#include <chrono>
#include <cstdint>

#include "bench/common/socket.h"

namespace stile::bench {

class Watcher {
 public:
  virtual void on_ready(std::uint32_t events) = 0;

 protected:
  ~Watcher() = default;
};

class Loop {
 public:
  Loop();

  // Edge-triggered for set-up, where each socket is ready only a few times.
  void watch(int fd, Watcher& watcher);
  // Level-triggered for bulk, so that many tunnels take turns. `events`: EPOLLIN or EPOLLOUT.
  void watch_level(int fd, Watcher& watcher, std::uint32_t events);

  void turn(std::chrono::milliseconds at_most);

 private:
  Fd epoll_;
};

}  // namespace stile::bench
