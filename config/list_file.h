// List files: one pattern a line, as squid's `acl … dstdomain "file"` has them.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "acl/rule_set.h"
#include "config/diagnostics.h"

namespace stile::config {

inline constexpr std::size_t max_list_bytes = 512U << 20U;

// Blank lines and comments are skipped: `#` at the beginning of a line, or behind a blank. Lines
// may end with CR LF. A line that is no pattern stops the load; the first 20 of them are named.
[[nodiscard]] Checked<std::shared_ptr<const acl::RuleSet>> parse_list(std::string_view text,
                                                                      const std::string& file);

}  // namespace stile::config
