// The terminal that a command shares with the person who started it.
#pragma once

#include <termios.h>

#include <optional>

#include "base/unique_fd.h"

namespace stile::run {

// If the command is a shell, it takes the foreground for its jobs. From inside it cannot return the
// terminal to a process group that it does not see. Create this before the command starts.
class TerminalForeground {
 public:
  TerminalForeground();
  ~TerminalForeground();
  // Whether there is a terminal that starts and stops groups of processes. Then the command stays
  // in the group of its caller, as the shell wants it. Otherwise it needs a group of its own:
  // kill(2) with 0 reaches all processes of a group, also those outside.
  [[nodiscard]] static bool has_terminal();
  TerminalForeground(const TerminalForeground&) = delete;
  TerminalForeground& operator=(const TerminalForeground&) = delete;

 private:
  UniqueFd fd_;  // none: no terminal, or we were not in its foreground
};

// The line settings of a person, for a question. The command may have changed what erases, echoes
// or ends a line.
class PersonsLine {
 public:
  // Create it before the command starts: it keeps the settings of that moment.
  explicit PersonsLine(int terminal);

  // Between these two the terminal reads lines as it did before the command started.
  void enter();
  void leave();

 private:
  int terminal_;
  std::optional<termios> persons_, commands_;
};

}  // namespace stile::run
