// edit_list: adds strings to a list in the text of a TOML or JSON file and changes nothing else:
// comments, order and layout are kept. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stile::cli {

enum class ListSyntax : std::uint8_t { toml, json };

// `key` is a position in the key of the list. Fails if the text cannot be edited safely.
[[nodiscard]] Result<std::string> add_to_list(std::string_view text, std::size_t key,
                                              const std::vector<std::string>& words,
                                              ListSyntax syntax);

// Adds a new key with these strings as its list: in TOML on its own line after the line of `key`,
// in JSON before the member of `key`.
[[nodiscard]] Result<std::string> add_new_list(std::string_view text, std::size_t key,
                                               std::string_view name,
                                               const std::vector<std::string>& words,
                                               ListSyntax syntax);

// The byte offset of a line and a column, both counted from 1.
[[nodiscard]] std::size_t offset_of(std::string_view text, std::size_t line, std::size_t column);

// The changes as a diff: the lines that differ, with one line of context before and after.
[[nodiscard]] std::string line_diff(const std::string& name, std::string_view before,
                                    std::string_view after);

}  // namespace stile::cli
