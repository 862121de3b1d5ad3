// The addresses of this host: never dialled for an agent, however public they are.
#pragma once

#include <memory>
#include <vector>

#include "acl/address.h"
#include "acl/prefix_map.h"
#include "proxy/base/unique_fd.h"

namespace stile::server {

[[nodiscard]] std::shared_ptr<const acl::PrefixMap> own_addresses(
    const std::vector<acl::Address>& listeners);

// A netlink socket that becomes readable when an address of the host changes. Without a descriptor
// if the kernel refuses: the caller then looks from time to time.
[[nodiscard]] UniqueFd watch_addresses();

}  // namespace stile::server
