// Terminal: gives the terminal back to whoever had it.
#pragma once

#include "proxy/base/unique_fd.h"

namespace stile::run {

// A shell that is the command takes the foreground for its own jobs, and from inside it cannot give
// it back to a process group that it does not see. Made before the command starts.
class Terminal {
 public:
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

 private:
  UniqueFd fd_;  // none: we have no terminal, or were not in its foreground
};

}  // namespace stile::run
