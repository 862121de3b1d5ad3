// The sockets of captured traffic: connections to addresses that stand for names, and questions
// about names. They need CAP_NET_ADMIN: from systemd, bound before privileges are dropped, or from
// stile-netns.
#pragma once

#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "config/settings.h"

namespace stile::server {

struct CaptureSockets {
  std::vector<UniqueFd> connections;  // listeners with IP_TRANSPARENT
  std::vector<UniqueFd> questions;    // UDP, port 53 of the gateway; over TCP they are connections
  [[nodiscard]] bool is_empty() const noexcept { return connections.empty() && questions.empty(); }
};

// One of each per worker.
[[nodiscard]] Result<CaptureSockets> open_capture(const config::NetnsSettings& settings,
                                                  std::size_t workers);

// Sorts a socket of another process into the right list. An error if it is neither.
[[nodiscard]] Result<void> add_passed(CaptureSockets& sockets, UniqueFd fd);
// A single listener is watched by all workers: captured traffic would else be served by one alone.
[[nodiscard]] Result<void> share_listener(CaptureSockets& sockets, std::size_t workers);

}  // namespace stile::server
