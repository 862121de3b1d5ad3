// daemonize: goes into the background, as squid does without -N.
#include "squid/daemonize.h"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

namespace stile::squid {

Background Background::enter() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) std::_Exit(1);
  const pid_t child = ::fork();
  if (child < 0) std::_Exit(1);
  if (child > 0) {
    ::close(ends[1]);
    char byte = 0;
    std::_Exit(::read(ends[0], &byte, 1) == 1 ? 0 : 1);
  }
  ::close(ends[0]);
  ::setsid();
  return Background{ends[1], ::open("/dev/null", O_RDWR | O_CLOEXEC)};
}

void Background::ready(const std::string& log) {
  int out = ::open(log.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0640);
  if (out < 0) out = null_;
  ::dup2(null_, STDIN_FILENO);
  ::dup2(null_, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  const char byte = 1;
  // Ignore the error: the parent may be gone.
  [[maybe_unused]] const ssize_t told = ::write(parent_, &byte, 1);
  ::close(parent_);
}

}  // namespace stile::squid
