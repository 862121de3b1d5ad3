// check: reads a config with all that belongs to it and tells what is in it, or what is wrong.
#pragma once

#include <optional>
#include <ostream>
#include <string>

namespace stile::config {

struct CheckOptions {
  bool effective = false;  // also the merged policy of each agent
  // 1 for a config that the daemon would take but for some cards. The daemon itself serves the
  // other agents then, so that a check before its start or reload must not fail.
  bool cards_count = false;
};

// Without a path: what the daemon would take without -c. A summary on `out` and 0, with warnings
// and refused cards on `err`; or all errors on `err` and 1.
[[nodiscard]] int check(const std::optional<std::string>& path, std::ostream& out,
                        std::ostream& err, const CheckOptions& options = {});

}  // namespace stile::config
