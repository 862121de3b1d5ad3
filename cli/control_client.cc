// ControlClient: connects, writes lines and reads lines.
#include "cli/control_client.h"

#include <grp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "acl/error_text.h"
#include "cli/command.h"
#include "config/diagnostics.h"

namespace stile::cli {
namespace {

constexpr int patience_to_send_seconds = 60;
constexpr std::size_t max_line = std::size_t{256} << 20U;  // a daemon gone mad must not eat it all

std::string group_name(gid_t id) {
  std::array<char, 16384> buffer{};
  struct group entry {};
  struct group* found = nullptr;
  ::getgrgid_r(id, &entry, buffer.data(), buffer.size(), &found);
  return found != nullptr ? found->gr_name : std::to_string(id);
}

Failure no_permission(const std::string& path) {
  Failure failure{failed, "no-permission", "may not talk to the daemon at " + path, {}};
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    if (status.st_gid == 0) {  // nobody should be told to join root's group
      failure.message += ": only root may";
      failure.advice = "sudo stile …";
      return failure;
    }
    const auto group = config::printable(group_name(status.st_gid));
    failure.message += ": only root and the group " + group + " may";
    failure.advice =
        "sudo usermod -aG " + group + " \"$USER\"   (then log in again), or: sudo stile …";
  } else {
    failure.message += ": its folder is closed to you";
    failure.advice = "sudo stile …";
  }
  return failure;
}

Failure nobody_there(const std::vector<std::string>& paths) {
  std::string message = "no daemon at ";
  for (const auto& path : paths) {
    if (&path != &paths.front()) message += ", nor at ";
    message += config::printable(path);
  }
  return {no_daemon, "no-daemon", std::move(message),
          "systemctl status stiled   (or name its socket: --socket PATH)"};
}

Failure broken(const std::string& path, const std::string& what) {
  return {failed, "no-answer", "the daemon at " + config::printable(path) + ' ' + what,
          "journalctl -u stiled -n 50"};
}

// -1 with errno set.
int connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  const timeval patience{patience_to_send_seconds, 0};  // connect(2) too: the backlog may be full
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  const int problem = errno;
  ::close(fd);
  errno = problem;
  return -1;
}

}  // namespace

Outcome<ControlClient> ControlClient::connect(const std::vector<std::string>& paths) {
  std::optional<Failure> problem;
  for (const auto& path : paths) {
    const int fd = connect_to(path);
    if (fd >= 0) return ControlClient{fd, path};
    if (problem || errno == ENOENT || errno == ECONNREFUSED || errno == ENOTDIR) continue;
    problem = errno == EACCES || errno == EPERM
                  ? no_permission(path)
                  : broken(path, "cannot be reached: " + error_text(errno));
  }
  return problem ? *problem : nobody_there(paths);
}

ControlClient::ControlClient(ControlClient&& other) noexcept
    : fd_{std::exchange(other.fd_, -1)},
      path_{std::move(other.path_)},
      buffer_{std::move(other.buffer_)},
      searched_{other.searched_} {}

ControlClient::~ControlClient() {
  if (fd_ >= 0) ::close(fd_);
}

Outcome<void> ControlClient::send(std::string_view line) {
  std::string bytes = std::string{line} + '\n';
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const auto sent = ::send(fd_, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    // It may have said why it closed: that is read next, and says more than "broken pipe".
    if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) return {};
    if (sent < 0) return broken(path_, "does not read the request");
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

Outcome<std::optional<std::string>> ControlClient::next_line(int patience_seconds) {
  while (true) {
    if (const auto end = buffer_.find('\n', searched_); end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      searched_ = 0;
      return std::optional{std::move(line)};
    }
    searched_ = buffer_.size();
    if (buffer_.size() > max_line) return broken(path_, "gave an answer without an end");

    pollfd ready{fd_, POLLIN, 0};
    const int count = ::poll(&ready, 1, patience_seconds > 0 ? patience_seconds * 1000 : -1);
    if (count < 0 && errno == EINTR) return std::optional<std::string>{};
    if (count == 0) {
      return broken(path_, "took the request but has not answered for " +
                               std::to_string(patience_seconds) + " s");
    }
    std::array<char, 65536> bytes{};
    const auto got = ::recv(fd_, bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) return std::optional<std::string>{};
    if (got <= 0) return std::optional<std::string>{};
    buffer_.append(bytes.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace stile::cli
