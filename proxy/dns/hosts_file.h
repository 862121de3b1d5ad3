// The hosts file: names that the operator answers himself. Pure.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "proxy/dns/cache.h"

namespace stile::dns {

using Hosts = std::unordered_map<std::string, Resolved, SeededHash>;

// Lines that cannot be read are passed over, as every resolver does. Names are canonical.
[[nodiscard]] Hosts parse_hosts(std::string_view text);

}  // namespace stile::dns
