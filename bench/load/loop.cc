#include "bench/load/loop.h"

#include <array>
#include <cerrno>

namespace stile::bench {

Loop::Loop() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (!epoll_) die("epoll_create1");
}

void Loop::watch(int fd, Watcher& watcher) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = &watcher;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) die("epoll_ctl");
}

void Loop::watch_level(int fd, Watcher& watcher, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = &watcher;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event) == 0) return;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) die("epoll_ctl");
}

// A watcher has one socket, hence one event a batch: it may redial or delete itself when told.
void Loop::turn(std::chrono::milliseconds at_most) {
  std::array<epoll_event, 256> events{};
  const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                 static_cast<int>(at_most.count()));
  if (count < 0 && errno != EINTR) die("epoll_wait");
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events.at(static_cast<std::size_t>(i));
    static_cast<Watcher*>(event.data.ptr)->on_ready(event.events);
  }
}

}  // namespace stile::bench
