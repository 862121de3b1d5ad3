// suffixes: where one suffix would cover several hosts.
#pragma once

#include <string>
#include <vector>

#include "cli/allowlist.h"

namespace stile::cli {

// Hosts that share a name which somebody registered are put together under the longest suffix that
// they have in common. Hosts below a public suffix (co.uk, github.io) share nothing by that.
[[nodiscard]] std::vector<SuggestedSuffix> find_suffixes(const std::vector<std::string>& hosts);

}  // namespace stile::cli
