// JSON text to Node. Only json_loader.cc uses nlohmann/json.
#pragma once

#include <string>
#include <string_view>

#include "config/diagnostics.h"
#include "config/node.h"

namespace stile::config {

inline constexpr std::size_t max_json_depth = 8;

// Exactly one value. Duplicate keys in an object are errors: two readers of such a text could see
// two different agents.
[[nodiscard]] Checked<Node> parse_json(std::string_view text, const std::string& file);
// A null if it is not that, for answers of programs.
[[nodiscard]] Node json_or_null(std::string_view text);

}  // namespace stile::config
