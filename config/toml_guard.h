// A look at TOML text before the parser sees it.
#pragma once

#include <optional>
#include <string_view>

#include "config/node.h"

namespace stile::config {

struct TomlFault {
  Position position;
  std::string_view problem;
};

// Two things that toml++ 3.3 does not survive. It limits how deep values nest but not how deep
// `a.a.a.a… = 1` goes, and taking such a tree down overflows the stack. And some characters outside
// ASCII lead it to code that it declares unreachable: TOML has them in strings and comments only,
// and there they may not follow a backslash.
[[nodiscard]] std::optional<TomlFault> find_toml_fault(std::string_view text);

}  // namespace stile::config
