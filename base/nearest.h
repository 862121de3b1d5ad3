// nearest: the known word that was probably meant.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace stile {

// The number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`;
// `limit` + 1 if there are more than `limit`, or if a word is longer than a host name can be.
inline constexpr std::size_t max_word = 253;
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit);

// The candidate with the fewest typing errors relative to `word`; empty if none is close enough for
// a hint.
[[nodiscard]] std::string_view nearest(std::string_view word,
                                       const std::vector<std::string_view>& candidates);

}  // namespace stile
