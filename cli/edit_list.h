// edit_list: adds words to a list in the text of a TOML or JSON file and changes nothing else:
// comments, order and layout stay as somebody wrote them. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "acl/result.h"

namespace stile::cli {

enum class ListSyntax : std::uint8_t { toml, json };

// `key` is a place in the key of the list. Fails where the text is not understood well enough.
[[nodiscard]] Result<std::string> add_to_list(std::string_view text, std::size_t key,
                                              const std::vector<std::string>& words,
                                              ListSyntax syntax);

// A new key with these words as its list: in TOML on a line of its own behind the line of `key`,
// in JSON before the member of `key`.
[[nodiscard]] Result<std::string> add_new_list(std::string_view text, std::size_t key,
                                               std::string_view name,
                                               const std::vector<std::string>& words,
                                               ListSyntax syntax);

// The byte at which a line and a column, both from 1, stand.
[[nodiscard]] std::size_t offset_of(std::string_view text, std::size_t line, std::size_t column);

// What has changed, as a diff: the lines that differ, with one before and one behind.
[[nodiscard]] std::string line_diff(const std::string& name, std::string_view before,
                                    std::string_view after);

}  // namespace stile::cli
