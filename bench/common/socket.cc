#include "bench/common/socket.h"

#include <arpa/inet.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <iostream>
#include <system_error>

namespace stile::bench {
namespace {

// The one place where the C socket API's type pun is written out.
const sockaddr* generic(const sockaddr_in& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

Fd stream_socket() {
  Fd fd{::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (!fd) die("socket");
  return fd;
}

}  // namespace

void Fd::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

void die(std::string_view what) {
  const std::string why = std::generic_category().message(errno);
  std::cerr << what << ": " << why << '\n';
  std::_Exit(1);
}

sockaddr_in endpoint(const std::string& text) {
  const auto colon = text.find(':');
  sockaddr_in address{};
  address.sin_family = AF_INET;
  std::uint16_t port{};
  const char* const end = text.data() + text.size();
  if (colon == std::string::npos ||
      ::inet_pton(AF_INET, text.substr(0, colon).c_str(), &address.sin_addr) != 1 ||
      std::from_chars(text.data() + colon + 1, end, port).ptr != end) {
    errno = EINVAL;
    die("not address:port: " + text);
  }
  address.sin_port = htons(port);
  return address;
}

sockaddr_in agent_source(unsigned n) {
  constexpr std::uint32_t first = 0x7f000101;  // 127.0.1.1
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(first + n);
  return address;
}

Fd listen_on(const sockaddr_in& at) {
  Fd fd = stream_socket();
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(fd.get(), generic(at), sizeof at) != 0) die("bind");
  if (::listen(fd.get(), SOMAXCONN) != 0) die("listen");
  return fd;
}

Fd dial(const sockaddr_in& to, const sockaddr_in* source) {
  Fd fd = stream_socket();
  if (source != nullptr) {
    // Without this, bind() itself takes a port and cannot know that the far end differs.
    const int on = 1;
    ::setsockopt(fd.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    if (::bind(fd.get(), generic(*source), sizeof *source) != 0) die("bind source");
  }
  if (::connect(fd.get(), generic(to), sizeof to) != 0 && errno != EINPROGRESS) return Fd{};
  return fd;
}

Fd accept_from(int listener) {
  return Fd{::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
}

void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) die("getrlimit");
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) die("setrlimit");
}

}  // namespace stile::bench
