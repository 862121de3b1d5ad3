// Assets: the files of the page, which CMake puts into the program.
#pragma once

#include <string_view>

namespace stile::web {

struct Asset {
  std::string_view path;  // "/style.css"; the page itself is "/"
  std::string_view type;  // its media type
  std::string_view text;
};

// nullptr: none has this path.
[[nodiscard]] const Asset* find_asset(std::string_view path) noexcept;

}  // namespace stile::web
