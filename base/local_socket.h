// local_socket: unix sockets: their addresses, pairs of them, messages with descriptors, and the
// process at the other end.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stile {

inline constexpr std::size_t max_socket_path = sizeof(sockaddr_un::sun_path) - 1;

// nullopt: longer than max_socket_path.
[[nodiscard]] std::optional<sockaddr_un> unix_address(std::string_view path) noexcept;

// What connect(2) and bind(2) take.
[[nodiscard]] inline const sockaddr* generic(const sockaddr_un& address) noexcept {
  return reinterpret_cast<const sockaddr*>(&address);
}

// False: see errno; ENAMETOOLONG for a path that is too long.
[[nodiscard]] bool connect_unix(int socket, std::string_view path) noexcept;

// A non-blocking listener in place of what has this name. `mask` is the umask for its file.
[[nodiscard]] Result<UniqueFd> listen_unix(const std::string& path, mode_t mask, int backlog);

// Two connected ends.
[[nodiscard]] Result<std::pair<UniqueFd, UniqueFd>> socket_pair(int type);

// nullopt: not a connected unix socket.
[[nodiscard]] std::optional<ucred> peer_credentials(int socket) noexcept;

// Waits with poll(2). False: not ready after that time. -1: no limit.
[[nodiscard]] bool wait_until_ready(int fd, short events, int timeout_ms) noexcept;

inline constexpr std::size_t max_message_descriptors = 253;  // the kernel's limit

// As sendmsg(2), with MSG_NOSIGNAL, and again after a signal. The kernel copies `descriptors`.
[[nodiscard]] ssize_t send_message(int socket, std::string_view bytes,
                                   std::span<const int> descriptors, int flags = 0);

struct ReceivedMessage {
  ssize_t size = 0;     // as of recvmsg(2)
  bool is_cut = false;  // it had more bytes or descriptors than there was room for
  std::vector<UniqueFd> descriptors;
};
// As recvmsg(2), and again after a signal.
[[nodiscard]] ReceivedMessage receive_message(int socket, std::span<char> room,
                                              std::size_t most_descriptors, int flags = 0);

}  // namespace stile
