// daemonize: into the background, as squid goes without -N.
#pragma once

#include <string>

namespace stile::squid {

class Background {
 public:
  // Forks. The parent waits until the child is ready, and exits 0 then or 1 if it never is. Returns
  // in the child. To be called before there are threads.
  static Background enter();
  // Lets the parent go. From now on messages go to that file, or nowhere if it cannot be written.
  void ready(const std::string& log);

 private:
  Background(int parent, int null) : parent_{parent}, null_{null} {}
  int parent_;  // a pipe to it
  int null_;    // /dev/null, opened while that is still allowed
};

}  // namespace stile::squid
