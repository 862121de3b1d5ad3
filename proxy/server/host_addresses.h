// The addresses of this host: never dialled for an agent, even if they are public.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "acl/address.h"
#include "acl/prefix_map.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace stile::server {

// Asks the kernel over rtnetlink: the addresses of all interfaces and the routing table `local`,
// which also has addresses without an interface (load balancers' addresses, `ip route add local`).
// The socket is opened once, so that a query needs no new descriptor.
class HostAddresses {
 public:
  // Returns one with the list, or an error.
  [[nodiscard]] static Result<HostAddresses> open();

  // Asks again; true if something changed. On error the known addresses stay valid.
  [[nodiscard]] Result<bool> refresh();
  // The known addresses, and those of listeners.
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

// Empties that socket. True if a notification makes another read() necessary.
[[nodiscard]] bool addresses_changed(int watch);

}  // namespace stile::server
