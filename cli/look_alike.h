// look_alike: whether a host imitates a name that an agent may reach. For warnings only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stile::cli {

// The allowed name that `host` can be mistaken for: a typing error away, visually the same
// (examp1e.com), the same name under another suffix (example.org), or with the allowed name as a
// prefix (example.com.evil.net). Empty: none, or the host belongs to the same owner. `allowed` are
// patterns; regexes and `*` are ignored.
[[nodiscard]] std::string look_alike(std::string_view host,
                                     const std::vector<std::string>& allowed);

}  // namespace stile::cli
