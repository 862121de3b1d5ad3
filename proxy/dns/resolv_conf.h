// resolv.conf: the DNS servers of the host. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "acl/address.h"

namespace stile::dns {

// The `nameserver` lines, as addresses; zones and unreadable lines are left out.
[[nodiscard]] std::vector<acl::Address> parse_resolv_conf(std::string_view text);

}  // namespace stile::dns
