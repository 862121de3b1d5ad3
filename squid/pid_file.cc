// PidFile: marks the running copy with a lock that only that process can hold.
#include "squid/pid_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/system_error.h"

namespace stile::squid {

Result<PidFile> PidFile::create(const std::string& path) {
  if (path.empty()) return PidFile{path, UniqueFd{}};
  UniqueFd fd{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644)};
  if (!fd) return Error{path + ": " + error_text(errno)};
  // The daemon's user may own the folder: root must not be tricked into writing another file.
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_nlink != 1) {
    return Error{path + ": is not a file of its own; remove it"};
  }
  // The kernel reports the holder of this kind of lock, so `-k` need not trust the text of the
  // file.
  struct flock whole {};
  whole.l_type = F_WRLCK;
  if (::fcntl(fd.get(), F_SETLK, &whole) != 0) {
    const bool is_held = errno == EAGAIN || errno == EACCES;
    return Error{path + ": " + (is_held ? "another copy is already running" : error_text(errno))};
  }
  const std::string text = std::to_string(::getpid()) + "\n";
  if (::ftruncate(fd.get(), 0) != 0 ||
      ::pwrite(fd.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return Error{path + ": " + error_text(errno)};
  }
  return PidFile{path, std::move(fd)};
}

PidFile::~PidFile() {
  if (!fd_) return;
  [[maybe_unused]] const int emptied = ::ftruncate(fd_.get(), 0);
  ::unlink(path_.c_str());
}

}  // namespace stile::squid
