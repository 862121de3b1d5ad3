// The ends of simulated connections: clients and origins that the fuzzer plays.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/connection_judge.h"

namespace stile::fuzz {

// One end of a socket pair; the proxy has the other.
struct End {
  UniqueFd fd;
  std::string sent, received;
  bool has_stopped = false;

  void send(std::string_view bytes) {
    if (!fd) return;
    const ssize_t n = ::send(fd.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n > 0) sent += bytes.substr(0, static_cast<std::size_t>(n));
  }
  // What came, if anything.
  std::string_view read() {
    static std::array<char, 65536> buffer;
    if (!fd) return {};
    const ssize_t n = ::recv(fd.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (n <= 0) return {};
    received.append(buffer.data(), static_cast<std::size_t>(n));
    return {buffer.data(), static_cast<std::size_t>(n)};
  }
  void stop_sending() {
    if (fd) ::shutdown(fd.get(), SHUT_WR);
    has_stopped = true;
  }
  [[nodiscard]] bool is_gone() const { return has_stopped || !fd; }
};

struct Origin {
  // By the line that let the first bytes out. In observe mode a tunnel may go to the port of plain
  // HTTP and the other way round, and the two cannot be told apart.
  enum class Kind : std::uint8_t { unknown, tunnel, http, either };
  End end;
  std::string host;
  std::uint16_t port = 0;
  Kind kind = Kind::unknown;
  RequestReader requests;  // of plain HTTP
};

struct Pair {
  UniqueFd proxys, ours;
};

inline Pair socket_pair() {
  std::array<int, 2> fds{};
  const int made = ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds.data());
  STILE_FUZZ_CHECK(made == 0);
  return {UniqueFd{fds[0]}, UniqueFd{fds[1]}};
}

}  // namespace stile::fuzz
