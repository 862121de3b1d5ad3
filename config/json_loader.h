// JSON text to Node. nlohmann/json is known to json_loader.cc alone.
#pragma once

#include <string>
#include <string_view>

#include "config/diagnostics.h"
#include "config/node.h"

namespace stile::config {

inline constexpr std::size_t max_json_depth = 8;

// One value and nothing behind it. The same key twice in an object is an error: two readers of such
// a text could see two different agents.
[[nodiscard]] Checked<Node> parse_json(std::string_view text, const std::string& file);

}  // namespace stile::config
