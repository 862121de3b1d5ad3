// A listening unix socket, in the place of one that nobody serves any more.
#include "proxy/server/unix_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

#include "acl/error_text.h"

namespace stile::server {
namespace {

constexpr int unix_backlog = 4096;

// What the kernel takes for an address of any family.
const sockaddr* generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

bool is_stale(const sockaddr_un& address) {
  struct stat info {};
  if (::lstat(address.sun_path, &info) != 0 || !S_ISSOCK(info.st_mode)) return false;
  const UniqueFd probe{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  return ::connect(probe.get(), generic(address), sizeof address) != 0 && errno == ECONNREFUSED;
}

}  // namespace

Result<UniqueFd> bind_unix(const std::string& path, const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return Error{name + ": the path is too long for a socket"};
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  UniqueFd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (fd && is_stale(address)) ::unlink(address.sun_path);
  if (!fd || ::bind(fd.get(), generic(address), sizeof address) != 0 ||
      ::listen(fd.get(), unix_backlog) != 0) {
    return Error{name + ": " + error_text(errno)};
  }
  return fd;
}

}  // namespace stile::server
