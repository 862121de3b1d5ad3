// check: reads a config with all that belongs to it and tells what is in it, or what is wrong.
#pragma once

#include <optional>
#include <ostream>
#include <string>

namespace stile::config {

// Without a path: what the daemon would take without -c. A summary on `out` and 0, with warnings
// and refused cards on `err`; or all errors on `err` and 1. `effective` adds the merged policy of
// each agent.
[[nodiscard]] int check(const std::optional<std::string>& path, std::ostream& out,
                        std::ostream& err, bool effective = false);

}  // namespace stile::config
