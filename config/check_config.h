// check: reads a config and all files that it names, and reports its contents or its errors.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <string_view>

namespace stile::config {

struct CheckOptions {
  bool effective = false;  // also print the merged policy of each agent
  // Return 1 if only some cards are invalid. The daemon itself serves the other agents in that
  // case, so a check before its start or reload must not fail.
  bool cards_count = false;
};

// Without a path it checks what the daemon would load without -c. Returns 0 with a summary on
// `out`, and warnings and refused cards on `err`; or 1 with all errors on `err`.
[[nodiscard]] int check(const std::optional<std::string>& path, std::ostream& out,
                        std::ostream& err, const CheckOptions& options = {});

// The same for a config that is one text, as settings_text writes it; `name` is for people.
[[nodiscard]] int check_text(std::string_view text, const std::string& name, std::ostream& out,
                             std::ostream& err, const CheckOptions& options = {});

}  // namespace stile::config
