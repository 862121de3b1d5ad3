// The web server: a page for people in front of the control socket.
#pragma once

#include <string>
#include <vector>

namespace stile::web {

struct WebOptions {
  std::string listen = "127.0.0.1:9129";  // or "unix:/path"
  std::vector<std::string> origins;       // in addition to those of the listener
  std::string socket;                     // the daemon's; "": as `stile` finds it
  std::string login;                      // where `stile web` asks for a link; "": the usual path
  std::string group;                      // of the unix sockets; "": only this user
  std::string spawner;                    // socket of stile-spawner; "-": there is none
};

// Serves until a signal ends it. Returns the exit status.
[[nodiscard]] int serve(const WebOptions& options);

}  // namespace stile::web
