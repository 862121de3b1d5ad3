// control: tells a running daemon that cards have changed.
#include "netns/control.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "acl/error_text.h"
#include "acl/quoted.h"
#include "proxy/base/unique_fd.h"

namespace stile::netns {
namespace {

constexpr timeval patience{5, 0};  // the daemon may have to read large lists
constexpr std::size_t most_answer_bytes = 64U << 10U;

std::string warning(const std::string& what) {
  return "the daemon did not reload its cards: " + what;
}

std::string read_line(int fd) {
  std::string line;
  std::array<char, 4096> buffer{};
  while (line.find('\n') == std::string::npos && line.size() < most_answer_bytes) {
    const auto got = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (got <= 0) break;
    line.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return line.substr(0, line.find('\n'));
}

}  // namespace

std::string notify_daemon(const std::string& control_socket) {
  constexpr std::string_view request = "{\"action\":\"reload\"}\n";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (control_socket.size() >= sizeof address.sun_path)
    return warning("the socket's path is too long");
  std::memcpy(address.sun_path, control_socket.data(), control_socket.size());
  const UniqueFd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const bool is_absent = errno == ENOENT || errno == ECONNREFUSED || errno == ENOTDIR;
    return is_absent ? "" : warning(error_text(errno));
  }
  const auto sent = ::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(request.size())) return warning(error_text(errno));
  const auto answer = read_line(fd.get());
  if (answer.find("\"ok\":true") != std::string::npos) return "";
  return warning(answer.empty() ? "no answer" : "it says " + acl::quoted(answer));
}

}  // namespace stile::netns
