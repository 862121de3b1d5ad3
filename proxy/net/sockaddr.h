// SockAddr: converts between acl::Address and the kernel's socket addresses.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "acl/address.h"

namespace stile::net {

class SockAddr {
 public:
  SockAddr() = default;
  SockAddr(const acl::Address& address, std::uint16_t port) noexcept;

  [[nodiscard]] const sockaddr* get() const noexcept {
    return reinterpret_cast<const sockaddr*>(&storage_);
  }
  [[nodiscard]] sockaddr* get() noexcept { return reinterpret_cast<sockaddr*>(&storage_); }
  [[nodiscard]] socklen_t size() const noexcept { return size_; }
  [[nodiscard]] socklen_t* size_for_kernel() noexcept {
    size_ = sizeof storage_;
    return &size_;
  }
  [[nodiscard]] int family() const noexcept { return storage_.ss_family; }

  // 0.0.0.0 and 0 for anything that is not IP.
  [[nodiscard]] acl::Address address() const noexcept;
  [[nodiscard]] std::uint16_t port() const noexcept;

 private:
  sockaddr_storage storage_{};
  socklen_t size_ = sizeof storage_;
};

// "10.0.0.1:443", "[2001:db8::1]:443".
[[nodiscard]] std::string endpoint_text(const acl::Address& address, std::uint16_t port);

}  // namespace stile::net
