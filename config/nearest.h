// nearest: the known word that somebody probably meant.
#pragma once

#include <string_view>
#include <vector>

namespace stile::config {

// The candidate with the fewest typing errors between it and `word`; empty if even that one is too
// far away to be worth a hint.
[[nodiscard]] std::string_view nearest(std::string_view word,
                                       const std::vector<std::string_view>& candidates);

}  // namespace stile::config
