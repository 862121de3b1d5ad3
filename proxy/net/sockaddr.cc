// SockAddr: converts between acl::Address and the kernel's socket addresses.
#include "proxy/net/sockaddr.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <charconv>
#include <cstring>

#include "base/decimal.h"

namespace stile::net {
namespace {

char* write_octet(char* at, unsigned value) noexcept {
  if (value >= 100) *at++ = static_cast<char>('0' + value / 100);
  if (value >= 10) *at++ = static_cast<char>('0' + value / 10 % 10);
  *at++ = static_cast<char>('0' + value % 10);
  return at;
}

}  // namespace

SockAddr::SockAddr(const acl::Address& address, std::uint16_t port) noexcept {
  if (address.is_v4()) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    v4.sin_addr.s_addr = htonl(address.v4_value());
    std::memcpy(&storage_, &v4, sizeof v4);
    size_ = sizeof v4;
  } else {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    const auto bytes = address.v6_bytes();
    std::memcpy(&v6.sin6_addr, bytes.data(), bytes.size());
    std::memcpy(&storage_, &v6, sizeof v6);
    size_ = sizeof v6;
  }
}

acl::Address SockAddr::address() const noexcept {
  if (storage_.ss_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, &storage_, sizeof v4);
    return acl::Address::v4(ntohl(v4.sin_addr.s_addr));
  }
  if (storage_.ss_family == AF_INET6) {
    sockaddr_in6 v6;
    std::memcpy(&v6, &storage_, sizeof v6);
    std::array<std::uint8_t, 16> bytes;
    std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
    return acl::Address::v6(bytes);
  }
  return {};
}

std::uint16_t SockAddr::port() const noexcept {
  in_port_t port = 0;
  if (storage_.ss_family == AF_INET) {
    std::memcpy(&port, reinterpret_cast<const char*>(&storage_) + offsetof(sockaddr_in, sin_port),
                sizeof port);
  } else if (storage_.ss_family == AF_INET6) {
    std::memcpy(&port, reinterpret_cast<const char*>(&storage_) + offsetof(sockaddr_in6, sin6_port),
                sizeof port);
  }
  return ntohs(port);
}

// Each line of the audit log has two of them, nearly all of IPv4.
std::string endpoint_text(const acl::Address& address, std::uint16_t port) {
  if (address.is_v4()) {
    std::array<char, sizeof "255.255.255.255:65535"> written;
    char* at = written.data();
    for (int shift = 24; shift >= 0; shift -= 8) {
      at = write_octet(at, address.v4_value() >> shift & 0xff);
      *at++ = shift == 0 ? ':' : '.';
    }
    return {written.data(), std::to_chars(at, written.data() + written.size(), port).ptr};
  }
  std::string text = "[" + address.text() + "]:";
  append_decimal(text, port);
  return text;
}

}  // namespace stile::net
