// loopback: the only network inside, with the proxy's socket.
#include "run/loopback.h"

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/inet_address.h"
#include "base/system_error.h"
#include "run/kernel.h"

namespace stile::run {
namespace {

constexpr std::uint16_t proxy_port = 3128;
constexpr int backlog = 4096;

}  // namespace

Result<UniqueFd> listen_on_loopback() {
  UniqueFd listener{::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (!listener) return system_error("cannot make a socket");
  ifreq request{};
  std::strncpy(request.ifr_name, "lo", IFNAMSIZ - 1);
  request.ifr_flags = IFF_UP;
  if (::ioctl(listener.get(), SIOCSIFFLAGS, &request) != 0) {
    return refused_namespace("cannot bring up the loopback", errno);
  }
  // No SO_REUSEPORT: the command cannot bind the same port and take our connections.
  const auto address = inet_address(INADDR_LOOPBACK, proxy_port);
  if (::bind(listener.get(), generic(address), sizeof address) != 0 ||
      ::listen(listener.get(), backlog) != 0) {
    return system_error("cannot listen inside");
  }
  return listener;
}

}  // namespace stile::run
