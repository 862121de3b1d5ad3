// columns: formats rows of words as a table for people.
#pragma once

#include <string>
#include <vector>

namespace stile::netns {

// Each column is as wide as its widest word; two blanks between columns, none at the end of a line.
[[nodiscard]] std::string columns(const std::vector<std::vector<std::string>>& rows);

}  // namespace stile::netns
