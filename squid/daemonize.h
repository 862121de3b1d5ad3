// daemonize: goes into the background, as squid does without -N.
#pragma once

#include <string>

namespace stile::squid {

class Background {
 public:
  // Forks. The parent waits until the child is ready, then exits 0; if the child fails, it exits 1.
  // Returns in the child. Call this before any thread starts.
  static Background enter();
  // Lets the parent exit. From now on messages go to that file, or are dropped if it cannot be
  // written.
  void ready(const std::string& log);

 private:
  Background(int parent, int null) : parent_{parent}, null_{null} {}
  int parent_;  // a pipe to the parent
  int null_;    // /dev/null, opened while that is still allowed
};

}  // namespace stile::squid
