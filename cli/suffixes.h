// suffixes: where one suffix would cover several hosts.
#pragma once

#include <string>
#include <vector>

#include "cli/allowlist.h"

namespace stile::cli {

// The name that was registered below a public suffix; empty: the host is such a suffix itself.
[[nodiscard]] std::string registered_name(std::string host);

// Hosts that share a name which somebody registered are put together under the longest suffix that
// they have in common. Hosts below a public suffix (co.uk, github.io) share nothing by that.
[[nodiscard]] std::vector<SuggestedSuffix> find_suffixes(const std::vector<std::string>& hosts);

}  // namespace stile::cli
