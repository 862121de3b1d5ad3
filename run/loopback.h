// loopback: the only network inside, with the proxy's socket.
#pragma once

#include "base/result.h"
#include "base/unique_fd.h"

namespace stile::run {

inline constexpr const char* proxy_url = "http://127.0.0.1:3128";

// In the calling process's network namespace: brings the loopback up and listens at the proxy's
// address. A process that holds the socket can serve it from any namespace.
[[nodiscard]] Result<UniqueFd> listen_on_loopback();

}  // namespace stile::run
