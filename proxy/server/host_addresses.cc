// The addresses of this host: never dialled for an agent, even if they are public.
#include "proxy/server/host_addresses.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <span>

#include "base/system_error.h"
#include "proxy/server/rtnetlink.h"

namespace stile::server {
namespace {

// More than any host has; bounds the memory.
constexpr std::size_t max_prefixes = std::size_t{1} << 18;
// A table that changes during the reading must be read again.
constexpr int attempts = 10;
constexpr timeval patience{2, 0};
using Datagram = std::array<std::byte, 65536>;

Error netlink_failed(int error) {
  return {"cannot read the addresses of this host: netlink: " + error_text(error)};
}

struct NetlinkRequest {
  nlmsghdr header{};
  union {
    rtmsg route{};
    ifaddrmsg address;
  };
};

// One datagram from the kernel; 0 bytes if another process sent it.
ssize_t receive_datagram(int fd, Datagram& datagram, int flags) {
  sockaddr_nl from{};
  iovec room{datagram.data(), datagram.size()};
  msghdr message{};
  message.msg_name = &from;
  message.msg_namelen = sizeof from;
  message.msg_iov = &room;
  message.msg_iovlen = 1;
  ssize_t size = 0;
  do {
    size = ::recvmsg(fd, &message, flags);
  } while (size < 0 && errno == EINTR);
  if (size >= 0 && (message.msg_flags & MSG_TRUNC) != 0) {
    errno = EMSGSIZE;
    return -1;
  }
  return from.nl_pid == 0 ? size : 0;
}

std::span<const std::byte> bytes_of(const Datagram& datagram, ssize_t size) {
  return {datagram.data(), static_cast<std::size_t>(size)};
}

Result<UniqueFd> open_socket() {
  UniqueFd socket{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)};
  if (!socket) return netlink_failed(errno);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  // The kernel then sends only the requested table, not a million other routes. Without it
  // everything is sent, and the other tables are skipped.
  const int on = 1;
  ::setsockopt(socket.get(), SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof on);
  return socket;
}

}  // namespace

Result<HostAddresses> HostAddresses::open() {
  auto socket = open_socket();
  if (!socket) return socket.error();
  HostAddresses addresses{std::move(*socket)};
  auto known = addresses.read();
  if (!known) return known.error();
  addresses.known_ = std::move(*known);
  return addresses;
}

// False: the table changed during the reading.
Result<bool> HostAddresses::dump(std::uint16_t type, int family,
                                 std::vector<acl::Prefix>& prefixes) {
  NetlinkRequest request;
  request.header.nlmsg_type = type;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request.header.nlmsg_seq = ++sequence_;
  if (type == RTM_GETROUTE) {
    request.route.rtm_family = static_cast<unsigned char>(family);
    request.route.rtm_table = RT_TABLE_LOCAL;
    request.header.nlmsg_len = NLMSG_LENGTH(sizeof request.route);
  } else {
    request.address = {};
    request.address.ifa_family = static_cast<unsigned char>(family);
    request.header.nlmsg_len = NLMSG_LENGTH(sizeof request.address);
  }
  if (::send(socket_.get(), &request, request.header.nlmsg_len, 0) < 0) {
    return netlink_failed(errno);
  }
  bool is_consistent = true;
  Datagram datagram;
  for (;;) {
    const ssize_t size = receive_datagram(socket_.get(), datagram, 0);
    if (size < 0) return netlink_failed(errno);
    const DumpPart part = read_dump(bytes_of(datagram, size), sequence_, prefixes);
    if (part.is_interrupted) is_consistent = false;
    if (part.state == DumpPart::State::done) return is_consistent;
    if (part.state == DumpPart::State::failed) {
      // This family has no such table, or the kernel lacks the family: then it has no addresses.
      const bool is_missing =
          part.error == ENOENT || part.error == EAFNOSUPPORT || part.error == EOPNOTSUPP;
      if (is_missing) return is_consistent;
      return netlink_failed(part.error);
    }
    if (prefixes.size() > max_prefixes) return netlink_failed(EOVERFLOW);
  }
}

Result<std::vector<acl::Prefix>> HostAddresses::read() {
  for (int attempt = 0; attempt < attempts; ++attempt) {
    std::vector<acl::Prefix> prefixes;
    bool is_consistent = true;
    for (const int family : {AF_INET, AF_INET6}) {
      for (const std::uint16_t type : {RTM_GETROUTE, RTM_GETADDR}) {
        const auto done = dump(type, family, prefixes);
        if (!done) {
          // The remainder of a dump must not be read as part of the next one.
          if (auto fresh = open_socket()) socket_ = std::move(*fresh);
          return done.error();
        }
        is_consistent = is_consistent && *done;
      }
    }
    if (!is_consistent) continue;
    std::sort(prefixes.begin(), prefixes.end());
    prefixes.erase(std::unique(prefixes.begin(), prefixes.end()), prefixes.end());
    return prefixes;
  }
  return netlink_failed(EAGAIN);
}

Result<bool> HostAddresses::refresh() {
  auto now = read();
  if (!now) return now.error();
  if (*now == known_) return false;
  known_ = std::move(*now);
  return true;
}

std::shared_ptr<const acl::PrefixMap> HostAddresses::with(
    const std::vector<acl::Address>& listeners) const {
  std::vector<std::pair<acl::Prefix, acl::PrefixMap::Value>> entries;
  for (const acl::Address& address : listeners) {
    entries.push_back({{address, static_cast<std::uint8_t>(address.is_v4() ? 32 : 128)}, 0});
  }
  for (const acl::Prefix& prefix : known_) entries.push_back({prefix, 0});
  return std::make_shared<acl::PrefixMap>(std::move(entries));
}

Result<UniqueFd> watch_addresses() {
  UniqueFd fd{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE)};
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups =
      RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE;
  if (!fd || ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return Error{"cannot watch the addresses of this host: netlink: " + error_text(errno)};
  }
  return fd;
}

bool addresses_changed(int watch) {
  bool changed = false;
  Datagram datagram;
  for (;;) {
    const ssize_t size = receive_datagram(watch, datagram, MSG_DONTWAIT);
    if (size < 0) {
      if (errno == EAGAIN) return changed;
      changed = true;  // some were lost (ENOBUFS), or one was too long
      if (errno != ENOBUFS && errno != EMSGSIZE) return changed;
    } else if (!changed) {
      changed = concerns_addresses(bytes_of(datagram, size));
    }
  }
}

}  // namespace stile::server
