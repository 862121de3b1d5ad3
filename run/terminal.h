// TerminalForeground: gives the terminal back to its previous process group.
#pragma once

#include "base/unique_fd.h"

namespace stile::run {

// If the command is a shell, it takes the foreground for its jobs. From inside it cannot return the
// terminal to a process group that it does not see. Create this before the command starts.
class TerminalForeground {
 public:
  TerminalForeground();
  ~TerminalForeground();
  TerminalForeground(const TerminalForeground&) = delete;
  TerminalForeground& operator=(const TerminalForeground&) = delete;

 private:
  UniqueFd fd_;  // none: no terminal, or we were not in its foreground
};

}  // namespace stile::run
