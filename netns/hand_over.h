// hand_over: gives a daemon without privileges the sockets of captured traffic.
#pragma once

#include "base/result.h"
#include "netns/setup.h"

namespace stile::netns {

// If the daemon serves the fence and lacks these sockets, opens them and hands them over. True: it
// has them now; false: it needs none, or there is no daemon.
inline constexpr const char* handed_over = "gave the daemon the sockets of captured traffic";
[[nodiscard]] Result<bool> hand_over_capture(const Setup& setup);

}  // namespace stile::netns
