// named_sockets: finds the paths of the host's unix sockets, as far as they are visible. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stile::confine {

// Absolute paths in the text of /proc/net/unix. Abstract sockets are confined by their network
// namespace.
[[nodiscard]] std::vector<std::string> bound_paths(std::string_view proc_net_unix);

// Whether the kernel wrote that text: the file may be covered or unreadable.
[[nodiscard]] bool is_socket_table(std::string_view proc_net_unix) noexcept;

// Mount points in the text of /proc/self/mountinfo: a socket passed to a container is one.
[[nodiscard]] std::vector<std::string> mount_points(std::string_view mountinfo);

}  // namespace stile::confine
