// List files: one pattern per line, as in squid's `acl … dstdomain "file"`.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "acl/rule_set.h"
#include "config/diagnostics.h"

namespace stile::config {

inline constexpr std::size_t max_list_bytes = 512U << 20U;

// Skips blank lines and comments: `#` at the start of a line, or after a blank. Lines may end with
// CR LF. Invalid patterns refuse the file; the first 20 of them are reported.
[[nodiscard]] Checked<std::shared_ptr<const acl::RuleSet>> parse_list(std::string_view text,
                                                                      const std::string& file);

}  // namespace stile::config
