// named_sockets: where the host has unix sockets, as far as that can be told. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stile::confine {

// Absolute paths in the text of /proc/net/unix; abstract sockets stay behind with their network
// namespace.
[[nodiscard]] std::vector<std::string> bound_paths(std::string_view proc_net_unix);

// Whether that text is what the kernel writes: the file may be covered or unreadable.
[[nodiscard]] bool is_socket_table(std::string_view proc_net_unix) noexcept;

// Mount points in the text of /proc/self/mountinfo: a socket that a container was given is one.
[[nodiscard]] std::vector<std::string> mount_points(std::string_view mountinfo);

}  // namespace stile::confine
