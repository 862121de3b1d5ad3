// control: tells a running daemon that cards have changed.
#pragma once

#include <string>

namespace stile::netns {

// Asks for a reload and waits for the answer, so that an agent that was created is known when
// `create` returns. Empty: done, or there is no daemon (it reads the cards when it starts). Else a
// warning for people.
[[nodiscard]] std::string notify_daemon(const std::string& control_socket);

}  // namespace stile::netns
