// The addresses of this host: never dialled for an agent, however public they are.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "acl/address.h"
#include "acl/prefix_map.h"
#include "acl/result.h"
#include "proxy/base/unique_fd.h"

namespace stile::server {

// Asks the kernel over rtnetlink: the addresses of all interfaces and the routing table `local`,
// which also has what is no interface's address (load balancers' addresses, `ip route add local`).
// The socket is opened once, so that asking takes no descriptor.
class HostAddresses {
 public:
  // With the list, or not at all.
  [[nodiscard]] static Result<HostAddresses> open();

  // Asks again; true if something changed. On error what was known before still holds.
  [[nodiscard]] Result<bool> refresh();
  // What is known, and the addresses of listeners.
  [[nodiscard]] std::shared_ptr<const acl::PrefixMap> with(
      const std::vector<acl::Address>& listeners) const;
  [[nodiscard]] const std::vector<acl::Prefix>& known() const noexcept { return known_; }

 private:
  explicit HostAddresses(UniqueFd socket) noexcept : socket_{std::move(socket)} {}
  [[nodiscard]] Result<std::vector<acl::Prefix>> read();
  [[nodiscard]] Result<bool> dump(std::uint16_t type, int family,
                                  std::vector<acl::Prefix>& prefixes);

  UniqueFd socket_;
  std::uint32_t sequence_ = 0;
  std::vector<acl::Prefix> known_;
};

// A netlink socket that becomes readable when an address or a route of the host changes.
[[nodiscard]] Result<UniqueFd> watch_addresses();

// Empties that socket. Whether anything there makes it necessary to read() again.
[[nodiscard]] bool addresses_changed(int watch);

}  // namespace stile::server
