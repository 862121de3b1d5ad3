// suffixes: finds suffixes that would cover several hosts.
#pragma once

#include <string>
#include <vector>

#include "cli/allowlist.h"

namespace stile::cli {

// Groups hosts with the same registered name under their longest common suffix. Hosts that share
// only a public suffix (co.uk, github.io) are not grouped.
[[nodiscard]] std::vector<SuggestedSuffix> find_suffixes(const std::vector<std::string>& hosts);

}  // namespace stile::cli
