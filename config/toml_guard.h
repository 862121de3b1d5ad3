// Checks TOML text before the parser sees it.
#pragma once

#include <optional>
#include <string_view>

#include "config/node.h"

namespace stile::config {

struct TomlFault {
  Position position;
  std::string_view problem;
};

// Two kinds of input crash toml++ 3.3. It limits the nesting of values but not of dotted keys
// (`a.a.a.a… = 1`), and destroying such a tree overflows the stack. And some characters outside
// ASCII lead it to code that it declares unreachable: TOML allows them in strings and comments
// only, and there not after a backslash.
[[nodiscard]] std::optional<TomlFault> find_toml_fault(std::string_view text);

}  // namespace stile::config
