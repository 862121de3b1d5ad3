// nearest: the known word that was probably meant.
#pragma once

#include <string_view>
#include <vector>

namespace stile::config {

// The candidate with the fewest typing errors relative to `word`; empty if none is close enough for
// a hint.
[[nodiscard]] std::string_view nearest(std::string_view word,
                                       const std::vector<std::string_view>& candidates);

}  // namespace stile::config
