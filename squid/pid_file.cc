// PidFile: how `-k` finds the running copy.
#include "squid/pid_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <utility>

#include "acl/error_text.h"

namespace stile::squid {
namespace {

Error failed(const std::string& path) { return {path + ": " + error_text(errno)}; }

// Nothing or nonsense in it: 0.
pid_t read_pid(int fd) {
  char text[32];
  const ssize_t size = ::pread(fd, text, sizeof text, 0);
  pid_t pid = 0;
  if (size > 0) std::from_chars(text, text + size, pid);
  return pid > 1 ? pid : 0;
}

bool is_running(pid_t pid) { return pid > 1 && (::kill(pid, 0) == 0 || errno == EPERM); }

}  // namespace

Result<PidFile> PidFile::create(const std::string& path) {
  if (path.empty()) return PidFile{path, -1};
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd < 0) return failed(path);
  PidFile file{path, fd};
  if (const pid_t other = read_pid(fd); other != ::getpid() && is_running(other)) {
    file.path_.clear();  // it is the other's
    ::close(std::exchange(file.fd_, -1));
    return Error{path + ": is already running as process " + std::to_string(other)};
  }
  const std::string text = std::to_string(::getpid()) + "\n";
  if (::ftruncate(fd, 0) != 0 ||
      ::pwrite(fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return failed(path);
  }
  return file;
}

PidFile::PidFile(PidFile&& other) noexcept
    : path_{std::move(other.path_)}, fd_{std::exchange(other.fd_, -1)} {}

PidFile::~PidFile() {
  if (fd_ < 0) return;
  // Emptied too: in a folder of root's, the daemon's own user cannot remove it.
  [[maybe_unused]] const int emptied = ::ftruncate(fd_, 0);
  ::unlink(path_.c_str());
  ::close(fd_);
}

Result<pid_t> running_copy(const std::string& path) {
  if (path.empty()) return Error{"pid_filename is none, so the running copy cannot be found"};
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return failed(path);
  const pid_t pid = read_pid(fd);
  ::close(fd);
  if (!is_running(pid)) return Error{path + ": there is no running copy"};
  return pid;
}

}  // namespace stile::squid
