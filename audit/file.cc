// File on POSIX: O_APPEND, flock, bounded writes.
#include "audit/file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>

#include "base/directory.h"
#include "base/system_error.h"

namespace stile::audit {
namespace {

using Clock = std::chrono::steady_clock;

// /proc/locks has lines like "3: FLOCK  ADVISORY  WRITE 4711 fe:01:123456 0 EOF". Only for
// messages, so a miss is harmless: in a container the holder may be invisible.
std::string holder_of_lock(ino_t inode) {
  std::ifstream locks{"/proc/locks"};
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words{line};
    std::string number, kind, advisory, access, pid, device_and_inode;
    words >> number >> kind >> advisory >> access >> pid >> device_and_inode;
    if (kind == "FLOCK" && device_and_inode.ends_with(":" + std::to_string(inode))) {
      return "process " + pid;
    }
  }
  return "another process";
}

// Waits until the descriptor is writable or the deadline has passed.
bool wait_writable(int fd, Clock::time_point deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  pollfd entry{fd, POLLOUT, 0};
  return ::poll(&entry, 1, static_cast<int>(std::max<std::int64_t>(left, 0))) > 0;
}

}  // namespace

Result<File> File::open(const std::string& path, Links links) { return open_with(path, 0, links); }
Result<File> File::create(const std::string& path) {
  return open_with(path, O_EXCL, Links::follow);
}

Result<File> File::open_with(const std::string& path, int flags, Links links) {
  // If the file was renamed between open and flock, it no longer has the name: check again.
  for (int attempt = 0; attempt < 10; ++attempt) {
    const int wanted = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | flags;
    UniqueFd fd = links == Links::follow
                      ? UniqueFd{::open(path.c_str(), wanted, 0640)}
                      : open_resolved(AT_FDCWD, path, wanted, RESOLVE_NO_SYMLINKS, 0640);
    if (!fd) {
      return errno == ELOOP && links == Links::refuse
                 ? Error{path + ": a part of it is a link; name the place itself"}
                 : system_error(path);
    }
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0) return system_error(path);
    File file{std::move(fd), S_ISREG(status.st_mode)};
    if (!file.is_regular_) return file;
    // Another user could write to it under another name.
    if (links == Links::refuse && status.st_nlink > 1) {
      return Error{path + ": the file has another name (a hard link); remove it, or log elsewhere"};
    }
    if (::flock(file.fd(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) return system_error(path);
      return Error{path + ": " + holder_of_lock(status.st_ino) + " writes to this log already"};
    }
    if (file.is_named(path, links)) return file;
  }
  return Error{path + ": was renamed again and again while it was opened"};
}

Result<File> File::standard_output() {
  UniqueFd fd{::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)};
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0) return system_error("standard output");
  return File{std::move(fd), S_ISREG(status.st_mode)};
}

Result<File> File::inherit(UniqueFd fd, const std::string& path) {
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return Error{path + ": the audit log that was handed over is not a file"};
  }
  File file{std::move(fd), true};
  if (!file.is_named(path)) {
    return Error{path + ": is not the audit log of the running daemon"};
  }
  return file;
}

File::Written File::write(std::string_view bytes, std::chrono::milliseconds patience) {
  Written written;
  const auto deadline = is_regular_ ? Clock::time_point{} : Clock::now() + patience;
  while (written.bytes < bytes.size()) {
    std::string_view rest = bytes.substr(written.bytes);
    if (!is_regular_) {
      if (!wait_writable(fd(), deadline)) return {written.bytes, EAGAIN};
      // After POLLOUT a pipe accepts this many bytes without blocking, regardless of its flags.
      rest = rest.substr(0, PIPE_BUF);
    }
    const ssize_t count = ::write(fd(), rest.data(), rest.size());
    if (count >= 0) {
      written.bytes += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {
      if (!wait_writable(fd(), deadline)) return {written.bytes, EAGAIN};
    } else if (errno != EINTR) {
      return {written.bytes, errno};
    }
  }
  return written;
}

std::uint64_t File::size() const noexcept {
  struct stat status {};
  return ::fstat(fd(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

bool File::is_named(const std::string& path, Links links) const noexcept {
  struct stat mine {
  }, named{};
  if (::fstat(fd(), &mine) != 0) return false;
  if (links == Links::follow) {
    if (::stat(path.c_str(), &named) != 0) return false;
  } else {
    const auto path_fd = open_resolved(AT_FDCWD, path, O_PATH, RESOLVE_NO_SYMLINKS);
    if (!path_fd) return errno == EACCES;
    if (::fstat(path_fd.get(), &named) != 0) return false;
  }
  return mine.st_dev == named.st_dev && mine.st_ino == named.st_ino;
}

}  // namespace stile::audit
