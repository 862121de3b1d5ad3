// TerminalForeground: gives the terminal back to its previous process group.
#include "run/terminal.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>

namespace stile::run {

TerminalForeground::TerminalForeground() {
  UniqueFd fd{::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)};
  if (fd && ::tcgetpgrp(fd.get()) == ::getpgrp()) fd_ = std::move(fd);
}

TerminalForeground::~TerminalForeground() {
  if (!fd_ || ::tcgetpgrp(fd_.get()) == ::getpgrp()) return;
  // A background process that asks for this is stopped, unless it blocks the signal.
  sigset_t stop;
  ::sigemptyset(&stop);
  ::sigaddset(&stop, SIGTTOU);
  sigset_t before;
  ::pthread_sigmask(SIG_BLOCK, &stop, &before);
  ::tcsetpgrp(fd_.get(), ::getpgrp());
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace stile::run
