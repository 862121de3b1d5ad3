// A listening unix socket that replaces a stale one, which no process serves.
#include "proxy/server/unix_socket.h"

#include <sys/fsuid.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "base/local_socket.h"
#include "base/passed_descriptors.h"
#include "base/system_error.h"
#include "config/accounts.h"

namespace stile::server {
namespace {

constexpr int unix_backlog = 4096;

bool is_stale(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISSOCK(info.st_mode)) return false;
  const UniqueFd probe{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  return !connect_unix(probe.get(), path) && errno == ECONNREFUSED;
}

// The umask and group for files that this thread creates, for the lifetime of this object.
class Creation {
 public:
  Creation(mode_t forbidden, std::optional<gid_t> group) : umask_{::umask(forbidden)} {
    if (group) group_ = static_cast<gid_t>(::setfsgid(*group));
  }
  ~Creation() {
    const int error = errno;
    ::umask(umask_);
    if (group_) ::setfsgid(*group_);
    errno = error;
  }
  Creation(const Creation&) = delete;
  Creation& operator=(const Creation&) = delete;

 private:
  mode_t umask_;
  std::optional<gid_t> group_;
};

// Only root can create files of any group. Other users can give theirs to a group that they are in.
bool has_group(const char* path, gid_t group) {
  struct stat info {};
  if (::lstat(path, &info) != 0) return false;
  if (info.st_gid == group) return true;
  if (::geteuid() != 0) return ::lchown(path, static_cast<uid_t>(-1), group) == 0;
  errno = EPERM;  // its folder sets the group of new files
  return false;
}

}  // namespace

Result<UniqueFd> bind_unix(const std::string& path, const UnixAccess& access,
                           const std::string& name) {
  const auto address = unix_address(path);
  if (!address) return Error{name + ": the path is too long for a socket"};
  std::optional<gid_t> group;
  if (!access.group.empty()) {
    group = config::find_group(access.group);
    if (!group) {
      return Error{name + ": there is no group " + access.group +
                   "; create it (groupadd --system " + access.group +
                   "), or change the line that `stiled --check` names"};
    }
  }
  UniqueFd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  const auto problem = [&name](const char* what) {
    return Error{name + ": " + what + error_text(errno)};
  };
  // The file gets the mode that the socket has, minus the umask (unix(7)).
  if (!fd || ::fchmod(fd.get(), access.mode) != 0) return problem("");
  if (!access.takes_descriptors) refuse_descriptors(fd.get());
  if (is_stale(path)) ::unlink(path.c_str());
  {
    const Creation creation{0, group};
    if (::bind(fd.get(), generic(*address), sizeof *address) != 0) return problem("");
  }
  if (group && !has_group(path.c_str(), *group)) {
    const Error error = problem("cannot give it to its group: ");
    ::unlink(path.c_str());
    return error;
  }
  if (::listen(fd.get(), unix_backlog) != 0) return problem("");
  return fd;
}

}  // namespace stile::server
