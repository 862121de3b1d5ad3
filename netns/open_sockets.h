// open_sockets: unix sockets that everybody on this host may connect to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stile::netns {

// The absolute paths in the text of /proc/net/unix. Abstract names are left out: they stay behind
// with their network namespace. Pure.
[[nodiscard]] std::vector<std::string> socket_paths(std::string_view proc_net_unix);

// Those of the calling process's network namespace that strangers may write to. Whoever serves one
// may do things for an agent that the agent cannot do itself: look up names, send mail, fetch.
[[nodiscard]] std::vector<std::string> open_sockets();

}  // namespace stile::netns
