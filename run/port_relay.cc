// relay_ports: one thread and poll(2); what cannot be written yet waits in a bounded buffer.
#include "run/port_relay.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <list>
#include <string>

#include "base/inet_address.h"

namespace stile::run {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t buffer_bytes = std::size_t{64} << 10U;

struct Side {
  UniqueFd fd;
  std::string pending;     // to be written here
  bool has_ended = false;  // nothing more comes from here
  bool is_shut = false;    // nothing more goes there
};

struct Pair {
  Side client, target;
  bool is_connected = false, is_dead = false;
  Clock::time_point moved = Clock::now();  // the last byte, in either direction
};

bool is_idle_longer(const Pair& left, const Pair& right) { return left.moved < right.moved; }

bool would_wait() { return errno == EAGAIN || errno == EINTR || errno == EINPROGRESS; }

UniqueFd connect_to(std::uint16_t port) {
  UniqueFd fd{::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  const auto address = inet_address(INADDR_LOOPBACK, port);
  if (fd && ::connect(fd.get(), generic(address), sizeof address) != 0 && !would_wait()) {
    fd.reset();
  }
  return fd;
}

void read_from(Pair& pair, Side& from, Side& to) {
  std::array<char, buffer_bytes> bytes;
  const auto count = ::recv(from.fd.get(), bytes.data(), bytes.size() - to.pending.size(), 0);
  if (count > 0) {
    to.pending.append(bytes.data(), static_cast<std::size_t>(count));
    pair.moved = Clock::now();
  } else if (count == 0) {
    from.has_ended = true;
  } else if (!would_wait()) {
    pair.is_dead = true;
  }
}

void write_to(Pair& pair, Side& to, const Side& from) {
  if (!to.pending.empty()) {
    const auto count = ::send(to.fd.get(), to.pending.data(), to.pending.size(), MSG_NOSIGNAL);
    if (count > 0) {
      to.pending.erase(0, static_cast<std::size_t>(count));
      pair.moved = Clock::now();
    }
    if (count < 0 && !would_wait()) pair.is_dead = true;
  }
  if (to.pending.empty() && from.has_ended && !to.is_shut) {
    to.is_shut = true;
    ::shutdown(to.fd.get(), SHUT_WR);
  }
}

// A descriptor with nothing to wait for is left out: poll(2) would return for its end again and
// again.
pollfd wait_for(const Side& side, const Side& other, bool may_move) {
  short events = 0;
  if (may_move && !side.has_ended && other.pending.size() < buffer_bytes) events |= POLLIN;
  if (!may_move || !side.pending.empty()) events |= POLLOUT;
  return {events == 0 ? -1 : side.fd.get(), events, 0};
}

void relay(Pair& pair, short client_events, short target_events) {
  if (!pair.is_connected) {
    if (target_events == 0) return;
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(pair.target.fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    pair.is_connected = error == 0;
    pair.is_dead = error != 0;
    return;
  }
  constexpr short readable = POLLIN | POLLHUP | POLLERR;
  if ((client_events & readable) != 0) read_from(pair, pair.client, pair.target);
  if ((target_events & readable) != 0) read_from(pair, pair.target, pair.client);
  write_to(pair, pair.client, pair.target);
  write_to(pair, pair.target, pair.client);
  if (pair.client.is_shut && pair.target.is_shut) pair.is_dead = true;
}

void accept_from(const UniqueFd& listener, std::uint16_t port, std::list<Pair>& pairs) {
  UniqueFd client{::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
  if (!client) return;
  UniqueFd target = connect_to(port);
  if (!target) return;  // nothing listens there
  Pair& pair = pairs.emplace_back();
  pair.client.fd = std::move(client);
  pair.target.fd = std::move(target);
}

// Until the first pair has been idle for so long; -1: there is none.
int time_to_first(const std::list<Pair>& pairs, std::chrono::milliseconds idle) {
  const auto first = std::min_element(pairs.begin(), pairs.end(), is_idle_longer);
  if (first == pairs.end()) return -1;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(first->moved + idle - Clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, idle.count()));
}

}  // namespace

void relay_ports(const std::vector<UniqueFd>& listeners, const std::vector<std::uint16_t>& ports,
                 const RelayLimits& limits) {
  std::list<Pair> pairs;
  std::vector<pollfd> waits;
  while (true) {
    waits.clear();
    const bool is_full = pairs.size() >= limits.connections;
    const bool may_accept = !is_full || time_to_first(pairs, limits.gives_way) == 0;
    for (const auto& listener : listeners) {
      waits.push_back({may_accept ? listener.get() : -1, POLLIN, 0});
    }
    for (const auto& pair : pairs) {
      waits.push_back(pair.is_connected ? wait_for(pair.client, pair.target, true)
                                        : pollfd{-1, 0, 0});
      waits.push_back(wait_for(pair.target, pair.client, pair.is_connected));
    }
    if (::poll(waits.data(), waits.size(),
               time_to_first(pairs, may_accept ? limits.idle : limits.gives_way)) < 0) {
      if (errno != EINTR) ::_exit(1);
      continue;
    }
    std::size_t at = listeners.size();
    for (auto& pair : pairs) {
      relay(pair, waits[at].revents, waits[at + 1].revents);
      at += 2;
    }
    const auto oldest = Clock::now() - limits.idle;
    pairs.remove_if([&](const Pair& pair) { return pair.is_dead || pair.moved <= oldest; });
    for (std::size_t i = 0; i < listeners.size(); ++i) {
      if (waits[i].revents == 0) continue;
      if (pairs.size() >= limits.connections) {
        if (time_to_first(pairs, limits.gives_way) != 0) break;
        pairs.erase(std::min_element(pairs.begin(), pairs.end(), is_idle_longer));
      }
      accept_from(listeners[i], ports[i], pairs);
    }
  }
}

}  // namespace stile::run
