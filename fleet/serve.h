// serve: the program stile-fleet.
#pragma once

#include <string>

namespace stile::fleet {

struct ServeOptions {
  std::string config;  // empty: the default path
  std::string socket;  // of the daemon; empty: found as `stile` finds it
};

// Returns the exit status, after SIGTERM or SIGINT.
[[nodiscard]] int serve(const ServeOptions& options);

}  // namespace stile::fleet
