// TOML text to Node. Only toml_loader.cc uses toml++.
#pragma once

#include <string>
#include <string_view>

#include "config/diagnostics.h"
#include "config/node.h"

namespace stile::config {

inline constexpr std::size_t max_toml_bytes = 16U << 20U;

// A table, or the first syntax error: after that one, a TOML parser can only guess.
[[nodiscard]] Checked<Node> parse_toml(std::string_view text, const std::string& file);

}  // namespace stile::config
