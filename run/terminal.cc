// The terminal that a command shares with the person who started it.
#include "run/terminal.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>

namespace stile::run {

namespace {

UniqueFd open_terminal() { return UniqueFd{::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)}; }

}  // namespace

bool TerminalForeground::has_terminal() { return static_cast<bool>(open_terminal()); }

TerminalForeground::TerminalForeground() {
  UniqueFd fd = open_terminal();
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

PersonsLine::PersonsLine(int terminal) : terminal_{terminal} {
  termios settings{};
  if (::tcgetattr(terminal, &settings) == 0) persons_ = settings;
}

void PersonsLine::enter() {
  termios settings{};
  if (!persons_ || ::tcgetattr(terminal_, &settings) != 0) return;
  commands_ = settings;
  ::tcsetattr(terminal_, TCSANOW, &*persons_);
  ::tcflow(terminal_, TCOON);      // the command may have stopped the output
  ::tcflush(terminal_, TCIFLUSH);  // what was typed before a question is no answer to it
}

void PersonsLine::leave() {
  if (commands_) ::tcsetattr(terminal_, TCSANOW, &*commands_);
  commands_.reset();
}

}  // namespace stile::run
