// The hosts file: names whose addresses the operator sets. Pure.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "proxy/dns/cache.h"

namespace stile::dns {

using Hosts = std::unordered_map<std::string, Resolved, SeededHash>;

// Unreadable lines are skipped, as in every resolver. Names are canonical.
[[nodiscard]] Hosts parse_hosts(std::string_view text);

}  // namespace stile::dns
