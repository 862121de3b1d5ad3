// Dialer: the first of several checked addresses that answers (Happy Eyeballs, RFC 8305).
#include "proxy/net/dialer.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "proxy/net/sockaddr.h"

namespace stile::net {
namespace {

constexpr std::chrono::milliseconds attempt_delay{250};
// A zone that an agent owns may answer with hundreds of addresses; so many attempts are enough.
constexpr std::size_t max_addresses = 8;

}  // namespace

Dialer::Dialer(Loop& loop, std::vector<acl::Address> addresses, std::uint16_t port)
    : done{loop},
      loop_{loop},
      share_{loop.current_share()},
      addresses_{std::move(addresses)},
      port_{port} {
  if (addresses_.size() > max_addresses) addresses_.resize(max_addresses);
}

void Dialer::start() { next_attempt(); }

void Dialer::stop() noexcept {
  next_ = addresses_.size();
  attempts_.clear();
  disarm();
}

void Dialer::next_attempt() {
  while (next_ < addresses_.size()) {
    const acl::Address address = addresses_[next_++];
    const SockAddr target{address, port_};
    UniqueFd fd{::socket(target.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (!fd) {
      error_ = errno;
      continue;
    }
    const int on = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (::connect(fd.get(), target.get(), target.size()) != 0 && errno != EINPROGRESS) {
      error_ = errno;
      continue;
    }
    SocketPtr socket = loop_.adopt(std::move(fd));
    if (!socket) {
      error_ = errno;
      continue;
    }
    socket->watch(this);
    socket->charge_to(share_);
    attempts_.push_back({std::move(socket), address});
    if (next_ < addresses_.size()) loop_.arm(*this, attempt_delay);
    return;
  }
  disarm();
  if (attempts_.empty()) done.fire();
}

void Dialer::on_ready(Socket& socket) {
  if (winner_) return;
  int error = 0;
  if (socket.has_hung_up()) {
    socklen_t size = sizeof error;
    ::getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &size);
  } else if (!socket.is_writable()) {
    return;
  }
  const auto attempt = std::find_if(
      attempts_.begin(), attempts_.end(),
      [&socket](const Attempt& candidate) { return candidate.socket.get() == &socket; });
  if (attempt == attempts_.end()) return;
  if (error == 0 && socket.is_writable()) {
    socket.watch(nullptr);
    winner_ = std::move(attempt->socket);
    winner_address_ = attempt->address;
    attempts_.clear();
    disarm();
    done.fire();
    return;
  }
  if (error != 0) error_ = error;
  attempts_.erase(attempt);
  next_attempt();
}

std::vector<acl::Address> interleave_families(std::vector<acl::Address> addresses) {
  if (addresses.size() < 2) return addresses;
  const auto middle = std::stable_partition(addresses.begin(), addresses.end(),
                                            [](const acl::Address& a) { return !a.is_v4(); });
  std::vector<acl::Address> turns;
  turns.reserve(addresses.size());
  auto v6 = addresses.begin();
  auto v4 = middle;
  while (v6 != middle || v4 != addresses.end()) {
    if (v6 != middle) turns.push_back(*v6++);
    if (v4 != addresses.end()) turns.push_back(*v4++);
  }
  return turns;
}

}  // namespace stile::net
