#include "bench/floor/reactor.h"

#include <sys/epoll.h>

#include <array>
#include <cerrno>
#include <utility>

namespace stile::bench {
namespace {

// A session and a side in one pointer: the lowest bit of an address is free.
std::uint64_t pack(const Session& session, Which side) {
  return reinterpret_cast<std::uintptr_t>(&session) | static_cast<std::uint64_t>(side);
}

Session* session_of(std::uint64_t packed) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): it was one; a handle per side would cost memory
  return reinterpret_cast<Session*>(packed & ~std::uint64_t{1});
}

Which side_of(std::uint64_t packed) { return static_cast<Which>(packed & 1U); }

}  // namespace

Reactor::Reactor(const sockaddr_in& at, Factory make)
    : make_(std::move(make)), epoll_(::epoll_create1(EPOLL_CLOEXEC)), listener_(listen_on(at)) {
  if (!epoll_) die("epoll_create1");
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = 0;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, listener_.get(), &event) != 0) die("epoll_ctl");
}

void Reactor::watch(Session& session, Which side) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.u64 = pack(session, side);
  const int fd = side == Which::client ? session.client.get() : session.origin.get();
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) die("epoll_ctl");
}

void Reactor::again(Session& session, Which side, std::uint32_t events) {
  again_.push_back({&session, side, events});
}

void Reactor::end(Session& session) {
  if (!session.client) return;
  session.client.reset();
  session.origin.reset();
  ended_.push_back(&session);
}

void Reactor::accept_all() {
  constexpr int burst = 64;
  for (int i = 0; i < burst; ++i) {
    Fd client = accept_from(listener_.get());
    if (!client) return;
    Session* const session = make_(*this).release();  // deleted by run() after end()
    session->client = std::move(client);
    watch(*session, Which::client);
  }
}

void Reactor::run() {
  std::array<epoll_event, 256> events{};
  for (;;) {
    const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                   again_.empty() ? -1 : 0);
    if (count < 0 && errno != EINTR) die("epoll_wait");
    for (const Ready& ready : std::exchange(again_, {})) {
      if (ready.session->client) ready.session->ready(ready.side, ready.events);
    }
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events.at(static_cast<std::size_t>(i));
      if (event.data.u64 == 0) {
        accept_all();
        continue;
      }
      Session* const session = session_of(event.data.u64);
      if (session->client) session->ready(side_of(event.data.u64), event.events);
    }
    for (Session* session : std::exchange(ended_, {})) {
      std::erase_if(again_, [&](const Ready& ready) { return ready.session == session; });
      delete session;
    }
  }
}

}  // namespace stile::bench
