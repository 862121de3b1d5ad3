// inet_address: an IPv4 address and a port, for connect(2) and bind(2).
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>

namespace stile {

[[nodiscard]] inline sockaddr_in inet_address(std::uint32_t address, std::uint16_t port) noexcept {
  sockaddr_in made{};
  made.sin_family = AF_INET;
  made.sin_port = htons(port);
  made.sin_addr.s_addr = htonl(address);
  return made;
}

[[nodiscard]] inline const sockaddr* generic(const sockaddr_in& address) noexcept {
  return reinterpret_cast<const sockaddr*>(&address);
}

}  // namespace stile
