// Terminal: gives the terminal back to its previous process group.
#pragma once

#include "base/unique_fd.h"

namespace stile::run {

// If the command is a shell, it takes the foreground for its jobs. From inside it cannot return the
// terminal to a process group that it does not see. Create this before the command starts.
class Terminal {
 public:
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

 private:
  UniqueFd fd_;  // none: no terminal, or we were not in its foreground
};

}  // namespace stile::run
