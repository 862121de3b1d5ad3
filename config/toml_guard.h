// A look at TOML text before the parser sees it.
#pragma once

#include <optional>
#include <string_view>

#include "config/node.h"

namespace stile::config {

// The first key or table header with more than a handful of dots. toml++ 3.3 limits how deep values
// nest but not how deep `a.a.a.a… = 1` goes, and taking such a tree down overflows the stack.
[[nodiscard]] std::optional<Position> find_deep_key(std::string_view text);

}  // namespace stile::config
