// StandardStreams: F_SETFL and tcflow(3).
#include "run/standard_streams.h"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

namespace stile::run {

StandardStreams::StandardStreams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    flags_.at(static_cast<std::size_t>(fd)) = ::fcntl(fd, F_GETFL);
  }
}

void StandardStreams::restore() const {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    const int flags = flags_.at(static_cast<std::size_t>(fd));
    if (flags >= 0) ::fcntl(fd, F_SETFL, flags);
    // In the background the kernel would stop us for that.
    if (::tcgetpgrp(fd) == ::getpgrp()) ::tcflow(fd, TCOON);
  }
}

}  // namespace stile::run
